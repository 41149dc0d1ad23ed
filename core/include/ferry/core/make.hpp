/// @file
/// Arrays with initial contents, and copies on other devices or in other kinds of memory. Each is written on the
/// calling thread's stream of its device. None blocks, except arange and linspace, whose elements the CPU computes.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Array of this shape with every element set to `value`.
template <class T, std::size_t Rank, memory_kind Kind = default_memory_kind<T>>
basic_array<T, Rank, Kind> full(const extents<Rank>& e, std::type_identity_t<T> value, device d = default_device()) {
  return basic_array<T, Rank, Kind>(e, value, d);
}
/// Array of this shape, filled with T().
template <class T, std::size_t Rank, memory_kind Kind = default_memory_kind<T>>
basic_array<T, Rank, Kind> zeros(const extents<Rank>& e, device d = default_device()) {
  return full<T, Rank, Kind>(e, T(), d);
}
/// Array of this shape, filled with T(1).
template <class T, std::size_t Rank, memory_kind Kind = default_memory_kind<T>>
basic_array<T, Rank, Kind> ones(const extents<Rank>& e, device d = default_device()) {
  return full<T, Rank, Kind>(e, T(1), d);
}

namespace detail {

// Elements f(0), f(1), ... The array is allocated first, because that throws for impossible counts.
template <class T, memory_kind Kind, class F>
basic_array<T, 1, Kind> made_on_cpu(std::size_t count, device d, F f) {
  basic_array<T, 1, Kind> a({count}, d);
  const cpu_buffer<T> v(count);
  for (std::size_t i = 0; i < count; ++i) v.data()[i] = f(i);
  copy(v.span(), a, source_line{});
  return a;
}

// Number of the values first, first + step, ... before end.
template <class T>
std::size_t steps_before(T first, T end, T step) {
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(first) || !std::isfinite(end) || !std::isfinite(step))
      throw invalid_argument("arange: from " + std::to_string(first) + " to " + std::to_string(end) + " by " +
                             std::to_string(step) + " is no finite number of elements");
  const bool up = step > T(0);
  if (up ? first >= end : first <= end) return 0;
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(end);
    const auto s = static_cast<std::uint64_t>(step);
    return ((up ? b - a : a - b) - 1) / (up ? s : 0 - s) + 1;
  } else {
    const long double n = std::ceil((static_cast<long double>(end) - first) / step);
    if (n >= 0x1p63L) return std::numeric_limits<std::size_t>::max() / sizeof(T);  // more than any array holds
    auto count = static_cast<std::size_t>(n);
    if (count >> 48 != 0) return count;  // more than any computer holds
    while (count > 0) {                  // rounding may have moved the last value to the end
      const auto last = static_cast<T>(first + static_cast<long double>(count - 1) * step);
      if (up ? last < end : last > end) break;
      --count;
    }
    return count;
  }
}

}  // namespace detail

/// The values first, first + step, ... before end, each rounded once. Blocks until the elements are copied.
/// @return ceil((end - first) / step) elements
/// @throws invalid_argument for a step of 0 and for bounds that are not finite
/// @note Throws as the constructor of an array of that many elements.
template <class T, memory_kind Kind = default_memory_kind<T>>
basic_array<T, 1, Kind> arange(T first, T end, T step = T(1), device d = default_device()) {
  static_assert(std::is_arithmetic_v<T>, "arange needs numbers with an order");
  if (step == T(0)) throw invalid_argument("arange: the step is 0");
  return detail::made_on_cpu<T, Kind>(detail::steps_before(first, end, step), d, [=](std::size_t i) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(first) + i * static_cast<std::uint64_t>(step));
    else
      return static_cast<T>(first + static_cast<long double>(i) * step);
  });
}

/// `count` evenly spaced elements from first to last, both included. Blocks until the elements are copied.
/// @note Throws as the constructor of an array of that many elements.
template <class T, memory_kind Kind = default_memory_kind<T>>
basic_array<T, 1, Kind> linspace(T first, T last, std::size_t count, device d = default_device()) {
  static_assert(std::is_floating_point_v<T>, "linspace needs a floating point type");
  return detail::made_on_cpu<T, Kind>(count, d, [=](std::size_t i) {
    const auto gaps = static_cast<T>(count > 1 ? count - 1 : 1);
    return i + 1 == count && count > 1 ? last : first + (last - first) * static_cast<T>(i) / gaps;
  });
}

/// Copies an array into another kind of memory, on device d. The name is copied too.
template <memory_kind To, class T, std::size_t Rank, memory_kind Kind>
auto to_kind(const array_view<T, Rank, Kind>& a, device d) {
  basic_array<std::remove_const_t<T>, Rank, To> b(a.extents(), d);
  copy(a, b, source_line{});
  if (a.owner()) b.name(a.name());
  return b;
}
/// Copies an array into the same kind of memory on device d, as clone() does on its own device. The name is copied too.
template <class T, std::size_t Rank, memory_kind Kind>
auto clone_on(device d, const array_view<T, Rank, Kind>& a) {
  return to_kind<Kind>(a, d);
}
/// Copies an array into unified memory on the same device.
template <class T, std::size_t Rank, memory_kind Kind>
auto to_unified(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::unified>(a, a.device());
}
/// Copies an array into device memory on the same device.
template <class T, std::size_t Rank, memory_kind Kind>
auto to_device(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::device>(a, a.device());
}
/// Copies an array into pinned host memory near the same device.
template <class T, std::size_t Rank, memory_kind Kind>
auto to_host(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::host>(a, a.device());
}

/// @}

}  // namespace ferry::inline FERRY_ABI
