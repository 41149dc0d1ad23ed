/// @file
/// Raw CPU access to unified and pinned arrays: one wait, then plain addresses.
#pragma once
#include <span>
#include <utility>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/memory/held_range.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Strided elements of an array for CPU loops. Accesses are unchecked, so loops vectorize.
template <class T, std::size_t Rank>
class host_view {
 public:
  host_view(T* data, const extents<Rank>& e, const strides<Rank>& s, detail::held_range held = {})
      : data_(data),
        extents_(e),
        strides_(s),
        held_(std::move(held)) {}
  /// Conversion for functors that run on the CPU too. Its accesses are checked.
  operator mdspan<T, Rank>() const { return {data_, extents_, strides_}; }
  operator mdspan<const T, Rank>() const requires(!std::is_const_v<T>) { return {data_, extents_, strides_}; }
  /// Element at index 0 of every dimension.
  T* data() const { return data_; }
  /// Number of elements of dimension d.
  std::size_t extent(std::size_t d) const { return extents_[d]; }
  /// Distance in elements between neighbors along dimension d.
  std::ptrdiff_t stride(std::size_t d) const { return strides_[d]; }
  /// The element at one index for each dimension. Unchecked.
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

/// A std::span whose lifetime ferry tracks if FERRY_CHECK_SPANS is set. While it or a copy of it lives, its elements
/// count as in use. Spans that it converts to, pointers and iterators are not tracked.
template <class T>
class host_elements : public std::span<T> {
 public:
  host_elements() = default;
  host_elements(std::span<T> all, detail::held_range held) : std::span<T>(all), held_(std::move(held)) {}
  /// Read-only span of the same elements, tracked too.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) host_elements(const host_elements<U>& o)
      : std::span<T>(o),
        held_(o.held_) {}
  /// Assigns other elements, such as a part of these. The result is no longer tracked.
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

/// Type of ferry::host: names the CPU as a location, and makes the elements of an array accessible to the CPU.
struct host_type : memory_location {
  /// Elements h(i, j) at raw pointer speed. Blocks until the conflicting device work is complete; for a const array,
  /// only until its writers are. A const array returns const elements. The result is valid until the next conflicting
  /// submission.
  /// @throws use_after_free if the array was freed
  /// @note With FERRY_CHECK_SPANS, a conflicting submission throws invalid_argument while the result lives. host_guard
  ///   always has this check.
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(!std::is_const_v<T>, at);
    return {v.unsynchronized_data(), v.extents(), v.strides(), detail::hold(v, !std::is_const_v<T>, at, "host()")};
  }
  /// @overload
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<T, Rank> operator()(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) const {
    return (*this)(v, at);
  }
  /// @overload
  template <class T, std::size_t Rank, memory_kind Kind>
  host_view<const T, Rank> operator()(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) const {
    v.wait_for_host(false, at);
    return {v.unsynchronized_data(), v.extents(), v.strides(), detail::hold(v, false, at, "host()")};
  }
};
/// The CPU, as a location and as a function of arrays; see host_type.
inline constexpr host_type host{};

/// All elements of a contiguous array. Blocks, and stays valid, as host().
/// @throws invalid_argument if the array is not contiguous
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<T> host_span(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  T* const begin = v.begin(at);
  return {{begin, v.size()}, detail::hold(v, !std::is_const_v<T>, at, "host_span")};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<const T> host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  detail::need_host_access<Kind>();
  const T* const begin = v.begin(at);
  return {{begin, v.size()}, detail::hold(v, false, at, "host_span")};
}
/// Read-only elements of an array that may be writable; see host_span().
template <class T, std::size_t Rank, memory_kind Kind>
host_elements<const T> const_host_span(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  return host_span(v, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI

/// @cond
// As std::span itself: cheap to copy, and its iterators outlive it.
template <class T>
inline constexpr bool std::ranges::enable_view<ferry::host_elements<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<ferry::host_elements<T>> = true;
/// @endcond
