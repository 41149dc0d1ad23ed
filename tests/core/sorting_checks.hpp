// Checks of sorting, selection and search of random elements on the current backend, against the standard library.
#pragma once
#include <map>
#include <utility>

#include "ferry/core/sort.hpp"
#include "sorting_oracle.hpp"

namespace sorting_test {

using expressions_test::array_of;

// Whether `found` is `from` in order, line by line: the same bits of numbers, and NaN for NaN.
inline void check_sorted(const std::vector<number>& found, const std::vector<number>& from,
                         const std::vector<std::vector<std::size_t>>& all_lines, fr::sort_order order) {
  for (const auto& line : all_lines) {
    std::vector<number> want, have;
    for (const std::size_t i : line) want.push_back(from[i]), have.push_back(found[i]);
    // -0 is before 0 in ascending order.
    std::sort(want.begin(), want.end(), [&](number a, number b) {
      if (a == 0 && b == 0)
        return order == fr::sort_order::ascending ? std::signbit(a) > std::signbit(b)
                                                  : std::signbit(a) < std::signbit(b);
      return is_before(a, b, order);
    });
    for (std::size_t k = 0; k != line.size(); ++k) {
      const bool is_equal = std::isnan(want[k]) ? std::isnan(have[k])
                                                : want[k] == have[k] && std::signbit(want[k]) == std::signbit(have[k]);
      BOOST_TEST(is_equal, "element " << k << " of a line is " << have[k] << " and not " << want[k]);
    }
  }
}

template <std::size_t Rank, class A>
void check_positions(const A& view, const std::vector<number>& from, const fr::extents<Rank>& e, std::size_t axis,
                     fr::sort_order order, dice& d) {
  const auto all_lines = lines(e, axis);
  const auto at = static_cast<int>(axis) - (d.chance(50) ? static_cast<int>(Rank) : 0);
  const auto positions = elements(fr::argsort(view, at, order));
  const std::size_t k = d.below(e[axis] + 1);
  const auto [values, first] = fr::top_k(view, k, at, order);
  const auto top_values = numbers(values);
  const auto top_positions = elements(first);
  const std::vector<number> parts = k < e[axis] ? numbers(fr::partition(view, k, at)) : from;
  fr::extents<Rank> short_e = e;
  short_e[axis] = k;
  BOOST_TEST((values.extents() == short_e));
  const auto short_lines = lines(short_e, axis);
  for (std::size_t n = 0; n != all_lines.size(); ++n) {
    const auto& line = all_lines[n];
    std::vector<std::size_t> want(line.size());
    std::iota(want.begin(), want.end(), std::size_t{0});
    std::stable_sort(want.begin(), want.end(),
                     [&](std::size_t a, std::size_t b) { return is_before(from[line[a]], from[line[b]], order); });
    for (std::size_t i = 0; i != line.size(); ++i) BOOST_TEST(positions[line[i]] == static_cast<std::int64_t>(want[i]));
    for (std::size_t i = 0; i != k; ++i) {
      const std::size_t there = short_lines[n][i];
      BOOST_TEST(top_positions[there] == static_cast<std::int64_t>(want[i]));
      const number value = from[line[want[i]]];
      BOOST_TEST((std::isnan(value) ? std::isnan(top_values[there]) : top_values[there] == value));
    }
    if (k >= line.size()) continue;
    for (std::size_t i = 0; i != line.size(); ++i)
      BOOST_TEST(!(i < k ? is_before(parts[line[k]], parts[line[i]]) : is_before(parts[line[i]], parts[line[k]])));
    std::vector<number> same, before;
    for (const std::size_t i : line)
      if (!std::isnan(from[i])) before.push_back(from[i]);
    for (const std::size_t i : line)
      if (!std::isnan(parts[i])) same.push_back(parts[i]);
    BOOST_TEST(std::is_permutation(same.begin(), same.end(), before.begin(), before.end()));
  }
}

template <class T, std::size_t Rank>
void check(dice& d, std::size_t devices) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.chance(8) ? d.below(2) : 1 + d.below(Rank == 1 ? 300 : 9);
  if (Rank > 1 && d.chance(20)) e[d.below(Rank)] *= 20;
  std::vector<T> v = random_elements<T>(d, e.count());
  const fr::device device(static_cast<int>(d.below(devices)));
  fr::unified_array<T, Rank> a(e, device);
  if (e.count() != 0) std::copy(v.begin(), v.end(), a.begin());
  auto view = random_view(d, static_cast<fr::array_view<T, Rank, fr::memory_kind::unified>&>(a));
  const std::vector<number> from = numbers(view);
  const std::size_t axis = d.below(Rank);
  const fr::sort_order order = d.chance(50) ? fr::sort_order::ascending : fr::sort_order::descending;
  const fr::extents<Rank> shape = view.extents();
  if (d.chance(30))
    check_positions(fr::lazy(view), from, shape, axis, order, d);
  else
    check_positions(view, from, shape, axis, order, d);
  const auto at = static_cast<int>(axis);
  check_sorted(numbers(fr::sort(view, at, order)), from, lines(shape, axis), order);
  const std::vector<number> whole = numbers(a);
  fr::sort_in_place(view, at, order);
  check_sorted(numbers(view), from, lines(shape, axis), order);
  std::size_t changed = 0;
  const std::vector<number> after = numbers(a);
  for (std::size_t i = 0; i != whole.size(); ++i)
    changed += !(whole[i] == after[i] || (std::isnan(whole[i]) && std::isnan(after[i])));
  BOOST_TEST(changed <= shape.count());
}

// -0 as 0, and all NaN as the greatest, so that numbers can be compared as unique() does.
inline number merged(number v) {
  return std::isnan(v) ? std::numeric_limits<number>::infinity() : v == 0 ? number(0) : v;
}

template <class T>
void check_unique(dice& d) {
  const std::size_t n = d.chance(10) ? d.below(2) : 1 + d.below(200);
  std::vector<T> v = random_elements<T>(d, n);
  if constexpr (is_floating<T>)  // infinity means NaN here
    for (T& x : v)
      if (std::isinf(number_of(x))) x = T(3.f);
  fr::unified_array<T> a({n});
  if (n != 0) std::copy(v.begin(), v.end(), a.begin());
  const auto view = random_view(d, static_cast<fr::array_view<T, 1, fr::memory_kind::unified>&>(a));
  const std::vector<number> from = numbers(view);
  std::map<number, std::int64_t> want;
  for (const number x : from) ++want[merged(x)];
  const auto values = numbers(fr::unique(view));
  const auto [counted_values, counts] = fr::unique_counts(view);
  const auto [indexed_values, inverse] = fr::unique_inverse(view);
  BOOST_TEST_REQUIRE(values.size() == want.size());
  BOOST_TEST_REQUIRE(counts.size() == want.size());
  BOOST_TEST((inverse.extents() == view.extents()));
  const auto all_counts = elements(counts);
  const auto all_inverse = elements(inverse);
  std::size_t k = 0;
  for (const auto& [value, count] : want) {
    BOOST_TEST(merged(values[k]) == value);
    BOOST_TEST(std::signbit(values[k]) == (value < 0));
    BOOST_TEST(all_counts[k++] == count);
  }
  BOOST_TEST(
      (k == 0 || std::memcmp(elements(counted_values).data(), elements(indexed_values).data(), k * sizeof(T)) == 0));
  for (std::size_t i = 0; i != from.size(); ++i)
    BOOST_TEST(merged(values[static_cast<std::size_t>(all_inverse[i])]) == merged(from[i]));
  const std::size_t room = d.below(k + 3);
  fr::device_array<T> some({room}, T(7.f));
  const fr::scalar<std::uint64_t> found = fr::unique_into(some, view);
  BOOST_TEST(std::uint64_t(found) == k);
  const auto kept = numbers(some);
  for (std::size_t i = 0; i != room; ++i)
    BOOST_TEST(merged(kept[i]) == (i < k ? merged(values[i]) : number_of(T(7.f))));
}

template <class T>
void check_search(dice& d) {
  const std::vector<T> v = random_elements<T>(d, d.below(60));
  const std::vector<T> w = random_elements<T>(d, d.below(60));
  const auto sorted = fr::sort(array_of<T>(v));
  const auto wanted = array_of<T>(w);
  const auto all = numbers(sorted), values = numbers(wanted);
  const auto left = elements(fr::searchsorted(sorted, wanted));
  const auto right = elements(fr::searchsorted(sorted, wanted, fr::search_side::right));
  for (std::size_t i = 0; i != values.size(); ++i) {
    const auto [first, last] =
        std::equal_range(all.begin(), all.end(), values[i], [](number a, number b) { return is_before(a, b); });
    BOOST_TEST(left[i] == first - all.begin());
    BOOST_TEST(right[i] == last - all.begin());
  }
}

template <class T>
void check_selection(dice& d) {
  const fr::extents<2> e{d.below(9), 1 + d.below(30)};
  fr::unified_array<T, 2> a(e);
  fr::unified_array<bool, 2> m(e);
  std::vector<T> v = random_elements<T>(d, e.count());
  std::vector<T> want;
  std::vector<std::int64_t> places;
  const int share = static_cast<int>(d.below(101));
  for (std::size_t i = 0; i != v.size(); ++i) {
    const bool is_true = d.chance(share);
    a(i / e[1], i % e[1]) = v[i], m(i / e[1], i % e[1]) = is_true;
    if (is_true) want.push_back(v[i]), places.push_back(static_cast<std::int64_t>(i));
  }
  const auto same = [](const auto& x, const std::vector<T>& y) {
    return x.size() == y.size() && (y.empty() || std::memcmp(x.data(), y.data(), y.size() * sizeof(T)) == 0);
  };
  BOOST_TEST(same(elements(fr::compress(m, a)), want));
  BOOST_TEST((elements(fr::flatnonzero(m)) == places));
  BOOST_TEST((elements(fr::flatnonzero(!m)).size() == v.size() - places.size()));
  const auto where = elements(fr::argwhere(m));
  BOOST_TEST_REQUIRE(where.size() == 2 * places.size());
  for (std::size_t i = 0; i != places.size(); ++i)
    BOOST_TEST(where[2 * i] * static_cast<std::int64_t>(e[1]) + where[2 * i + 1] == places[i]);
  // Transposed: in the order of the view's indices.
  std::vector<T> across;
  for (std::size_t j = 0; j != e[1]; ++j)
    for (std::size_t i = 0; i != e[0]; ++i)
      if (std::as_const(m)(i, j)) across.push_back(std::as_const(a)(i, j));
  BOOST_TEST(same(elements(fr::compress(m.transpose(), a.transpose())), across));
  const std::size_t room = d.below(want.size() + 3);
  fr::device_array<T> some({2 * room}, T(5.f));
  fr::device_array<std::int64_t> some_places({room}, -1);
  const fr::scalar<std::uint64_t> n = fr::compress_into(some.slice({{0, 2 * room, 2}}), m, a);
  const fr::scalar<std::uint64_t> k = fr::flatnonzero_into(some_places, m);
  BOOST_TEST(std::uint64_t(n) == want.size());
  BOOST_TEST(std::uint64_t(k) == want.size());
  const auto kept = elements(some);
  const auto kept_places = elements(some_places);
  for (std::size_t i = 0; i != room; ++i) {
    const T now = kept[2 * i], other = kept[2 * i + 1], before = T(5.f), one = i < want.size() ? want[i] : before;
    BOOST_TEST(std::memcmp(&now, &one, sizeof(T)) == 0);
    BOOST_TEST(std::memcmp(&other, &before, sizeof(T)) == 0);
    BOOST_TEST(kept_places[i] == (i < places.size() ? places[i] : -1));
  }
}

}  // namespace sorting_test
