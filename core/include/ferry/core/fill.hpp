/// @file
/// Setting every element to one value.
#pragma once
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {
void fill_elements(const stream_ref* s, const copy_side& to, const strided_shape& shape, const void* element);

template <class T, std::size_t Rank, memory_kind Kind>
void fill_view(const stream_ref* s, array_view<T, Rank, Kind>& to, const T& value, source_line at) {
  static_assert(!std::is_const_v<T>, "fill(view, value): the view is read-only");
  fill_elements(s, side_of(to, at), shape_of<T>(to.extents()), &value);
}
}  // namespace detail

/// Sets every element to `value`. Ordered on `s`, or on the calling thread's stream of the array's device. Does not
/// block, but for elements above 16 bytes it may.
template <class T, std::size_t Rank, memory_kind Kind>
void fill(stream_ref s, array_view<T, Rank, Kind>& to, std::type_identity_t<T> value,
          source_line at = source_line::here()) {
  detail::fill_view<T>(&s, to, value, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void fill(stream_ref s, array_view<T, Rank, Kind>&& to, std::type_identity_t<T> value,
          source_line at = source_line::here()) {
  fill(s, to, value, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void fill(array_view<T, Rank, Kind>& to, std::type_identity_t<T> value, source_line at = source_line::here()) {
  detail::fill_view<T>(nullptr, to, value, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
void fill(array_view<T, Rank, Kind>&& to, std::type_identity_t<T> value, source_line at = source_line::here()) {
  detail::fill_view<T>(nullptr, to, value, at);
}

template <class T, std::size_t Rank, memory_kind Kind>
basic_array<T, Rank, Kind>::basic_array(const extents<Rank>& e, T value, ferry::device d) : basic_array(e, d) {
  fill(*this, value, source_line{});
}

/// @}

}  // namespace ferry::inline FERRY_ABI
