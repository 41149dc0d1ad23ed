// Random sharded arrays of any type, sorted by a team and by the standard library.
#pragma once
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/sorting_oracle.hpp"
#include "multigpu/shards.hpp"

namespace sharded_sorting {

namespace fr = ferry;
using shards::for_each_index;
using sorting_test::dice;
using sorting_test::is_before;
using sorting_test::number;
using sorting_test::number_of;

// Ties, special values and any bits; or equal elements only; or elements in order, or in reverse.
template <class T>
std::vector<T> any_elements(dice& d, std::size_t n) {
  std::vector<T> v = sorting_test::random_elements<T>(d, n);
  const auto less = [](T a, T b) { return is_before(number_of(a), number_of(b)); };
  switch (d.below(6)) {
    case 0: std::fill(v.begin(), v.end(), n != 0 ? T(v[0]) : T()); break;
    case 1: std::stable_sort(v.begin(), v.end(), less); break;
    case 2: std::stable_sort(v.begin(), v.end(), less), std::reverse(v.begin(), v.end()); break;
    default: break;
  }
  return v;
}

// Positions of numbers in order; those of equal ones in their order.
inline std::vector<std::int64_t> order_of(const std::vector<number>& v, fr::sort_order order) {
  std::vector<std::int64_t> at(v.size());
  std::iota(at.begin(), at.end(), std::int64_t{0});
  std::stable_sort(at.begin(), at.end(), [&](std::int64_t a, std::int64_t b) {
    return is_before(v[static_cast<std::size_t>(a)], v[static_cast<std::size_t>(b)], order);
  });
  return at;
}
// The numbers in order, -0 before 0 in ascending order.
inline std::vector<number> sorted(std::vector<number> v, fr::sort_order order) {
  std::sort(v.begin(), v.end(), [&](number a, number b) {
    if (a != 0 || b != 0) return is_before(a, b, order);
    return order == fr::sort_order::ascending ? std::signbit(a) > std::signbit(b) : std::signbit(a) < std::signbit(b);
  });
  return v;
}
inline bool is_same(number a, number b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
template <class A>
std::vector<number> numbers_of(const A& a) {
  std::vector<number> v;
  for (const auto& x : fr::to_vector(a)) v.push_back(number_of(x));
  return v;
}
inline void check_numbers(const std::vector<number>& found, const std::vector<number>& want, const std::string& what) {
  BOOST_TEST_REQUIRE(found.size() == want.size(), what);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != want.size(); ++i) wrong += !is_same(found[i], want[i]);
  BOOST_TEST(wrong == 0u, wrong << " of " << found.size() << " elements are wrong: " << what);
}

template <class T, fr::memory_kind Kind>
fr::sharded_array<T, 1, Kind> shards_of(const std::vector<T>& v, const fr::team& t, std::ptrdiff_t halo) {
  fr::sharded_array<T, 1, Kind> u(t, {v.size()}, {.halo = halo}, T(3.f));
  if constexpr (std::is_same_v<T, bool>) {
    const std::unique_ptr<bool[]> all(new bool[v.size()]);
    std::copy(v.begin(), v.end(), all.get());
    fr::copy(std::span<const bool>(all.get(), v.size()), u);
  } else {
    fr::copy(std::span<const T>(v), u);
  }
  return u;
}

// Halo cells beyond the ends keep the value of shards_of().
template <class A>
void check_ends(const A& a, const std::string& what) {
  const fr::team& t = a.team();
  for (std::size_t m = t.first_local(); m != t.first_local() + t.local_size(); ++m) {
    const auto seen = a.layout().local(m);
    if (seen.empty()) continue;
    const auto cells = fr::to_vector(a.shard_with_halo(m));
    if (seen.begin[0] < 0) BOOST_TEST(number_of(cells.front()) == number_of(typename A::value_type(3.f)), what);
    if (seen.end[0] > static_cast<std::ptrdiff_t>(a.size()))
      BOOST_TEST(number_of(cells.back()) == number_of(typename A::value_type(3.f)), what);
  }
}

template <class T, fr::memory_kind Kind = fr::memory_kind::device>
void check_one_dimension(dice& d, const fr::team& t) {
  const std::size_t most = d.chance(20) ? 600 * t.size() : d.chance(50) ? 2 * t.size() : 40;
  const std::vector<T> v = any_elements<T>(d, d.below(most + 1));
  const std::ptrdiff_t halo = v.size() >= t.size() && d.chance(50) ? 1 : 0;
  const fr::sort_order order = d.chance(50) ? fr::sort_order::ascending : fr::sort_order::descending;
  auto u = shards_of<T, Kind>(v, t, halo);
  std::vector<number> from;
  for (const T x : v) from.push_back(number_of(x));
  const std::string what = std::string(fr::detail::type_name<T>()) +
                           (order == fr::sort_order::ascending ? " up, " : " down, ") + u.layout().text();
  const std::vector<number> want = sorted(from, order);
  const std::vector<std::int64_t> places = order_of(from, order);

  const auto y = fr::sort(u, d.chance(50) ? 0 : -1, order);
  static_assert(std::is_same_v<decltype(y), const fr::sharded_array<T, 1, Kind>>);
  BOOST_TEST(!y.layout().has_halo());
  check_numbers(numbers_of(y), want, "sort of " + what);
  check_numbers(numbers_of(u), from, "source of sort of " + what);
  const auto at = fr::argsort(u, 0, order);
  BOOST_TEST(fr::to_vector(at) == places, "argsort of " << what);

  auto z = shards_of<T, Kind>(v, t, halo);
  fr::sharded_array<std::int64_t, 1> into(t, {v.size()}, {.halo = halo}, std::int64_t{3});
  fr::sort_into(z, u, 0, order), fr::argsort_into(into, u, 0, order);
  check_numbers(numbers_of(z), want, "sort_into of " + what);
  BOOST_TEST(fr::to_vector(into) == places, "argsort_into of " << what);
  check_ends(z, what), check_ends(into, what);
  fr::sort_in_place(u, 0, order);
  check_numbers(numbers_of(u), want, "sort_in_place of " + what);
  check_ends(u, what);
}

// Lines of two dimensions along the axis that is not cut.
template <class T>
void check_lines(dice& d, const fr::team& t) {
  const fr::extents<2> e{d.below(7) + 1, d.below(3 * t.size()) + 1};
  const std::size_t cut = d.below(2), along = 1 - cut;
  const fr::sort_order order = d.chance(50) ? fr::sort_order::ascending : fr::sort_order::descending;
  const std::vector<T> v = sorting_test::random_elements<T>(d, e.count());
  fr::sharded_array<T, 2> u(t, e, {.axis = cut});
  fr::copy(std::span<const T>(v), u);
  const auto found = numbers_of(fr::sort(u, static_cast<int>(along), order));
  const auto places = fr::to_vector(fr::argsort(u, static_cast<int>(along) - 2, order));
  for (std::size_t k = 0; k != e[cut]; ++k) {
    std::vector<number> from, line;
    std::vector<std::int64_t> at;
    for (std::size_t i = 0; i != e[along]; ++i) {
      const std::size_t there = along == 0 ? i * e[1] + k : k * e[1] + i;
      from.push_back(number_of(v[there])), line.push_back(found[there]), at.push_back(places[there]);
    }
    check_numbers(line, sorted(from, order), "a line of " + u.layout().text());
    BOOST_TEST(at == order_of(from, order), "positions of a line of " << u.layout().text());
  }
}

// -0 as 0, and all NaN as one number.
inline number merged(number v) {
  return std::isnan(v) ? std::numeric_limits<number>::quiet_NaN() : v == 0 ? number(0) : v;
}

template <class T>
void check_selection(dice& d, const fr::team& t) {
  const std::vector<T> v = any_elements<T>(d, d.below((d.chance(30) ? 200 : 3) * t.size() + 1));
  const fr::sort_order order = d.chance(50) ? fr::sort_order::ascending : fr::sort_order::descending;
  const auto u = shards_of<T, fr::memory_kind::device>(v, t, 0);
  std::vector<number> from;
  for (const T x : v) from.push_back(number_of(x));
  const std::string what = std::string(fr::detail::type_name<T>()) + ", " + u.layout().text();

  const std::size_t k = d.below(v.size() + 1);
  const auto top = fr::top_k(u, k, 0, order);
  std::vector<std::int64_t> places = order_of(from, order);
  places.resize(k);
  for (std::size_t i = 0; i != t.local_size(); ++i) {
    BOOST_TEST(fr::to_vector(top.positions.copies()[i]) == places, "top_k of " << what);
    const std::vector<number> values = numbers_of(top.values.copies()[i]);
    for (std::size_t n = 0; n != k; ++n) {
      const number want = from[static_cast<std::size_t>(places[n])];
      BOOST_TEST(is_same(values[n], want), "top_k of " << what);
    }
  }

  std::vector<number> different;
  for (const number x : sorted(from, fr::sort_order::ascending))
    if (different.empty() || !is_same(different.back(), merged(x))) different.push_back(merged(x));
  const auto found = fr::unique(u);
  check_numbers(numbers_of(found), different, "unique of " + what);

  std::vector<T> line = sorting_test::random_elements<T>(d, d.below(30));
  std::stable_sort(line.begin(), line.end(), [](T a, T b) { return is_before(number_of(a), number_of(b)); });
  fr::host_array<T> edges({line.size()}, t.device(t.first_local()));
  std::copy(line.begin(), line.end(), edges.begin());
  fr::replicated_array<T, 1> copies(t, {line.size()});
  fr::copy(std::as_const(edges), copies);
  std::vector<std::int64_t> before, behind;
  for (const number x : from) {
    before.push_back(std::count_if(line.begin(), line.end(), [&](T e) { return is_before(number_of(e), x); }));
    behind.push_back(std::count_if(line.begin(), line.end(), [&](T e) { return !is_before(x, number_of(e)); }));
  }
  BOOST_TEST(fr::to_vector(fr::searchsorted(edges, u)) == before, "searchsorted of " << what);
  BOOST_TEST(fr::to_vector(fr::searchsorted(copies, u, fr::search_side::right)) == behind, "searchsorted of " << what);
}

template <class... T>
void check_types(dice& d, const fr::team& t) {
  (check_one_dimension<T>(d, t), ...);
  (check_selection<T>(d, t), ...);
}

}  // namespace sharded_sorting
