// Arrays with known contents, and copies on other devices or in other kinds of memory. Each is written on this thread's
// stream of its device; none blocks, except arange and linspace, which are made on the CPU.
#pragma once
#include "ferry/core/array.hpp"

namespace ferry {

template <class T, std::size_t Rank, memory_kind Kind = memory_kind::FERRY_DEFAULT_KIND>
basic_array<T, Rank, Kind> full(const extents<Rank>& e, std::type_identity_t<T> value, device d = default_device()) {
  return basic_array<T, Rank, Kind>(e, value, d);
}
template <class T, std::size_t Rank, memory_kind Kind = memory_kind::FERRY_DEFAULT_KIND>
basic_array<T, Rank, Kind> zeros(const extents<Rank>& e, device d = default_device()) {
  return full<T, Rank, Kind>(e, T(), d);
}
template <class T, std::size_t Rank, memory_kind Kind = memory_kind::FERRY_DEFAULT_KIND>
basic_array<T, Rank, Kind> ones(const extents<Rank>& e, device d = default_device()) {
  return full<T, Rank, Kind>(e, T(1), d);
}

// first, first + step, ... before end: ceil((end - first) / step) elements. Throws invalid_argument for a step of 0.
template <class T, memory_kind Kind = memory_kind::FERRY_DEFAULT_KIND>
basic_array<T, 1, Kind> arange(T first, T end, T step = T(1), device d = default_device()) {
  if (step == T(0)) throw invalid_argument("arange: the step is 0");
  const bool up = step > T(0);
  std::vector<T> v;
  for (std::size_t i = 0;; ++i) {
    const T x = static_cast<T>(first + static_cast<T>(i) * step);
    const bool wrapped = !v.empty() && (up ? x <= v.back() : x >= v.back());  // beyond what T holds: beyond the end
    if (wrapped || (up ? !(x < end) : !(x > end))) break;
    v.push_back(x);
  }
  return basic_array<T, 1, Kind>::from(std::span<const T>(v), d);
}

// `count` elements from first to last, both included, evenly spaced.
template <class T, memory_kind Kind = memory_kind::FERRY_DEFAULT_KIND>
basic_array<T, 1, Kind> linspace(T first, T last, std::size_t count, device d = default_device()) {
  static_assert(std::is_floating_point_v<T>, "linspace needs a floating point type");
  std::vector<T> v(count);
  for (std::size_t i = 0; i < count; ++i)
    v[i] = i + 1 == count && count > 1
               ? last
               : first + (last - first) * static_cast<T>(i) / static_cast<T>(count > 1 ? count - 1 : 1);
  return basic_array<T, 1, Kind>::from(std::span<const T>(v), d);
}

// A copy in another kind of memory, on device d.
template <memory_kind To, class T, std::size_t Rank, memory_kind Kind>
auto to_kind(const array_view<T, Rank, Kind>& a, device d) {
  basic_array<std::remove_const_t<T>, Rank, To> b(a.extents(), d);
  copy(a, b);
  if (a.owner()) b.name(a.name());
  return b;
}
// A copy of the same kind on another device.
template <class T, std::size_t Rank, memory_kind Kind>
auto to(device d, const array_view<T, Rank, Kind>& a) {
  return to_kind<Kind>(a, d);
}
template <class T, std::size_t Rank, memory_kind Kind>
auto to_unified(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::unified>(a, a.device());
}
template <class T, std::size_t Rank, memory_kind Kind>
auto to_device(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::device>(a, a.device());
}
template <class T, std::size_t Rank, memory_kind Kind>
auto to_host(const array_view<T, Rank, Kind>& a) {
  return to_kind<memory_kind::host>(a, a.device());
}

}  // namespace ferry
