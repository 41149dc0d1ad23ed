// Random arrays and views of all types are sorted as by the standard library, under random schedules with the race
// checker.
#include "sorting_oracle.hpp"
#include "support/seeds.hpp"

namespace sorting_random {
namespace {

using namespace sorting_test;

// Whether `found` is `from` in order, line by line: the same bits of numbers, and NaN for NaN.
void check_sorted(const std::vector<number>& found, const std::vector<number>& from,
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
void check(dice& d) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.chance(8) ? d.below(2) : 1 + d.below(Rank == 1 ? 300 : 9);
  if (Rank > 1 && d.chance(20)) e[d.below(Rank)] *= 20;
  std::vector<T> v = random_elements<T>(d, e.count());
  const fr::device device(static_cast<int>(d.below(2)));
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

template <class... T>
void check_types(std::uint64_t seed) {
  (
      [&] {
        fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
        dice d(seed * 31 + sizeof(T));
        check<T, 2>(d);
      }(),
      ...);
}

}  // namespace
}  // namespace sorting_random

BOOST_AUTO_TEST_SUITE(sorting_random)

BOOST_AUTO_TEST_CASE(all_types) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed)
    check_types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                std::uint64_t, fr::half, fr::bfloat16, float, double>(seed);
}

BOOST_AUTO_TEST_CASE(all_ranks) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check<float, 1>(d);
    check<int, 3>(d);
    check<float, 4>(d);
  }
}

BOOST_AUTO_TEST_SUITE_END()
