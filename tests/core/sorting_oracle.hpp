// Shared by the tests of sorting: random elements with ties and special values, random views, and sorting by std.
#pragma once
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "expressions_fixture.hpp"
#include "ferry/core/sort.hpp"

namespace sorting_test {

namespace fr = ferry;
using expressions_test::elements;

struct dice {
  explicit dice(std::uint64_t seed) : random(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::mt19937_64 random;
};

// Values of all types, exactly.
using number = long double;
template <class T>
number number_of(T v) {
  if constexpr (std::is_same_v<T, fr::half> || std::is_same_v<T, fr::bfloat16>)
    return static_cast<float>(v);
  else
    return static_cast<number>(v);
}
template <class T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, fr::half> || std::is_same_v<T, fr::bfloat16>;

// NumPy's order: NaN is last.
inline bool is_before(number a, number b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
inline bool is_before(number a, number b, fr::sort_order order) {
  if (order == fr::sort_order::ascending || std::isnan(a) || std::isnan(b)) return is_before(a, b);
  return b < a;
}

template <class T>
T random_element(dice& d) {
  if constexpr (std::is_same_v<T, bool>) {
    return d.chance(50);
  } else {
    if (d.chance(60)) return static_cast<T>(static_cast<float>(d.below(9)) - (std::is_unsigned_v<T> ? 0.f : 4.f));
    if constexpr (is_floating<T>) {
      const float special[] = {0.f,
                               -0.f,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN(),
                               -std::numeric_limits<float>::quiet_NaN()};
      if (d.chance(50)) return static_cast<T>(special[d.below(6)]);
    }
    T any;  // any bits: extremes of integers, denormals, NaN of all kinds
    const std::uint64_t bits = d.random();
    std::memcpy(static_cast<void*>(&any), &bits, sizeof any);
    return any;
  }
}
template <class T>
auto random_elements(dice& d, std::size_t n) {
  std::vector<T> v;
  for (std::size_t i = 0; i != n; ++i) v.push_back(random_element<T>(d));
  return v;
}

// Elements of an array in row-major order, as numbers.
template <class A>
std::vector<number> numbers(const A& a) {
  std::vector<number> v;
  for (const auto& x : elements(a)) v.push_back(number_of(x));
  return v;
}

// Offsets of the elements of each line along an axis, in row-major memory.
template <std::size_t Rank>
std::vector<std::vector<std::size_t>> lines(const fr::extents<Rank>& e, std::size_t axis) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t d = 0; d != Rank; ++d) (d < axis ? outer : d > axis ? inner : outer) *= d == axis ? 1 : e[d];
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t o = 0; o != outer; ++o)
    for (std::size_t i = 0; i != inner; ++i) {
      all.emplace_back();
      for (std::size_t k = 0; k != e[axis]; ++k) all.back().push_back((o * e[axis] + k) * inner + i);
    }
  return all;
}

// A random view of an array that is large enough: whole, or every second or third element, or reversed, or transposed.
template <class T, std::size_t Rank, fr::memory_kind Kind>
fr::array_view<T, Rank, Kind> random_view(dice& d, fr::array_view<T, Rank, Kind> v) {
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    fr::strides<Rank> s = v.strides();
    fr::extents<Rank> e = v.extents();
    if (e[axis] < 2 || d.chance(60)) continue;
    T* first = v.unsynchronized_data();
    if (d.chance(50)) {
      if (first) first += s[axis] * static_cast<std::ptrdiff_t>(e[axis] - 1);
      s[axis] = -s[axis];
    } else {
      const std::size_t step = 1 + d.below(3);
      e[axis] = (e[axis] + step - 1) / step;
      s[axis] *= static_cast<std::ptrdiff_t>(step);
    }
    v = fr::array_view<T, Rank, Kind>(v.owner(), first, e, s);
  }
  return d.chance(40) ? v.transpose() : v;
}

}  // namespace sorting_test
