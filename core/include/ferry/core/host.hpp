// Raw access from the CPU to unified and pinned arrays: wait once, then plain addresses.
#pragma once
#include <span>
#include <utility>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/memory/held_range.hpp"

namespace ferry {

// Strided elements of an array as the CPU has asked for them: nothing is checked any more, so loops vectorise.
template <class T, std::size_t Rank>
class host_view {
 public:
  host_view(T* data, const extents<Rank>& e, const strides<Rank>& s, detail::held_range held = {})
      : data_(data),
        extents_(e),
        strides_(s),
        held_(std::move(held)) {}
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
  detail::held_range held_;
};

// A std::span whose life ferry may follow (FERRY_CHECK_SPANS): as long as it or a copy lives, its elements are in use. What
// it is converted to, and pointers and iterators, are not followed.
template <class T>
class host_elements : public std::span<T> {
 public:
  host_elements() = default;
  host_elements(std::span<T> all, detail::held_range held) : std::span<T>(all), held_(std::move(held)) {}
  // Read only, and followed on.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) host_elements(const host_elements<U>& o)
      : std::span<T>(o),
        held_(o.held_) {}
  // A part of it, or something else: not followed any more.
  host_elements& operator=(std::span<T> other) {
    std::span<T>::operator=(other);
    held_ = nullptr;
    return *this;
  }

 private:
  template <class>
  friend class host_elements;
  detail::held_range held_;
};

// Names the CPU as a place, and, called with an array, gives its elements to the CPU.
struct host_type : memory_location {
  // Elements h(i, j) at raw pointer speed. Blocks until the device work that conflicts is over; good until the next
  // submission that conflicts. A const array waits for writers only, and gives const elements. Where spans are checked
  // (FERRY_CHECK_SPANS), submitting what conflicts while the result lives is an invalid_argument; host_guard is that always.
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(!std::is_const_v<T>, at);
    return {v.unsynchronized_data(), v.extents(), v.strides(), detail::hold(v, !std::is_const_v<T>, at, "host()")};
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) const {
    return (*this)(v, at);
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<const T, Rank> operator()(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(false, at);
    return {v.unsynchronized_data(), v.extents(), v.strides(), detail::hold(v, false, at, "host()")};
  }
};
inline constexpr host_type host{};

// All elements of a contiguous array; the same rules.
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<T> host_span(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  T* const begin = v.begin(at);
  return {{begin, v.size()}, detail::hold(v, !std::is_const_v<T>, at, "host_span")};
}
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<const T> host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  const T* const begin = v.begin(at);
  return {{begin, v.size()}, detail::hold(v, false, at, "host_span")};
}
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<const T> const_host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  return host_span(v, at);
}

}  // namespace ferry

// As std::span itself: cheap to copy, and its iterators outlive it.
template <class T>
inline constexpr bool std::ranges::enable_view<ferry::host_elements<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<ferry::host_elements<T>> = true;
