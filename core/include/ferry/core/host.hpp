// Raw access from the CPU to unified and pinned arrays: wait once, then plain addresses.
#pragma once
#include <span>

#include "ferry/core/array.hpp"

namespace ferry {

// Strided elements of an array as the CPU has asked for them: nothing is checked any more, so loops vectorise.
template <class T, std::size_t Rank>
class host_view {
 public:
  host_view(T* data, const extents<Rank>& e, const strides<Rank>& s) : data_(data), extents_(e), strides_(s) {}
  // For functors that run on the CPU too. Its accesses are checked.
  operator mdspan<T, Rank>() const { return {data_, extents_, strides_}; }
  operator mdspan<const T, Rank>() const requires(!std::is_const_v<T>) { return {data_, extents_, strides_}; }
  T* data() const { return data_; }
  std::size_t extent(std::size_t d) const { return extents_[d]; }
  std::ptrdiff_t stride(std::size_t d) const { return strides_[d]; }
  // The element at one index a dimension. Unchecked.
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...)) T& operator()(
      Index... index) const {
    std::ptrdiff_t at = 0;
    [[maybe_unused]] std::size_t d = 0;
    ((at += static_cast<std::ptrdiff_t>(index) * strides_[d++]), ...);
    return data_[at];
  }

 private:
  T* data_;
  extents<Rank> extents_;
  strides<Rank> strides_;
};

// Names the CPU as a place, and, called with an array, gives its elements to the CPU.
struct host_type : memory_location {
  // Elements h(i, j) at raw pointer speed. Blocks until the device work that conflicts is over; good until the next
  // submission that conflicts. A const array waits for writers only, and gives const elements.
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(!std::is_const_v<T>, at);
    return {v.unsynchronized_data(), v.extents(), v.strides()};
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) const {
    return (*this)(v, at);
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<const T, Rank> operator()(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(false, at);
    return {v.unsynchronized_data(), v.extents(), v.strides()};
  }
};
inline constexpr host_type host{};

// All elements of a contiguous array; the same rules.
template <class T, std::size_t Rank, memory_kind Kind>
std::span<T> host_span(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  return {v.begin(at), v.size()};
}
template <class T, std::size_t Rank, memory_kind Kind>
std::span<const T> host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  return {v.begin(at), v.size()};
}
template <class T, std::size_t Rank, memory_kind Kind>
std::span<const T> const_host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  return {v.begin(at), v.size()};
}

}  // namespace ferry
