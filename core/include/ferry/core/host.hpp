// Raw access from the CPU to unified and pinned arrays: wait once, then plain addresses.
#pragma once
#include <span>

#include "ferry/core/array.hpp"

namespace ferry {

// Names the CPU as a place, and, called with an array, gives its elements to the CPU.
struct host_type : memory_location {
  // Strided elements h(i, j) at raw pointer speed. Blocks until the device work that conflicts is over; good until the
  // next submission that conflicts. A const array waits for writers only, and gives const elements.
  template <class T, std::size_t Rank, memory_kind Kind>
  mdspan<T, Rank> operator()(array_view<T, Rank, Kind>& v) const {
    v.wait_for_host(!std::is_const_v<T>);
    return {v.unsynchronized_data(), v.extents(), v.strides()};
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  mdspan<const T, Rank> operator()(const array_view<T, Rank, Kind>& v) const {
    v.wait_for_host(false);
    return {v.unsynchronized_data(), v.extents(), v.strides()};
  }
};
inline constexpr host_type host{};

// All elements of a contiguous array; the same rules.
template <class T, std::size_t Rank, memory_kind Kind>
std::span<T> host_span(array_view<T, Rank, Kind>& v) {
  return {v.begin(), v.size()};
}
template <class T, std::size_t Rank, memory_kind Kind>
std::span<const T> host_span(const array_view<T, Rank, Kind>& v) {
  return {v.begin(), v.size()};
}
template <class T, std::size_t Rank, memory_kind Kind>
std::span<const T> const_host_span(const array_view<T, Rank, Kind>& v) {
  return {v.begin(), v.size()};
}

}  // namespace ferry
