// Copies between arrays, views and memory of the CPU, whatever kinds and devices they are of.
#pragma once
#include <span>
#include <type_traits>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/operation.hpp"

namespace ferry {

namespace detail {

// One side of a copy, without its type. `owner` is null for memory of the CPU that ferry does not know.
struct copy_side {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
  byte_range bytes;
  bool contiguous = true;
};

// Ordered on s. Blocks the CPU when a side is pageable memory.
void copy_elements(const stream_ref* s, const copy_side& to, const copy_side& from, const strided_shape& shape);

template <class T, std::size_t Rank, memory_kind Kind>
copy_side side_of(const array_view<T, Rank, Kind>& v) {
  copy_side side{&v.owner(),
                 reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(v.unsynchronized_data())),
                 {},
                 v.bytes(),
                 v.is_contiguous()};
  for (std::size_t d = 0; d != Rank; ++d)
    side.stride_bytes[d] = v.strides()[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  return side;
}

template <class T, std::size_t Rank>
strided_shape shape_of(const extents<Rank>& e) {
  strided_shape shape{sizeof(T), Rank, {}};
  for (std::size_t d = 0; d != Rank; ++d) shape.extent[d] = e[d];
  return shape;
}

template <std::size_t Rank>
void need_same_shape(const extents<Rank>& from, const extents<Rank>& to) {
  if (!(from == to))
    throw invalid_argument("copy from shape " + from.text() + " to shape " + to.text() + ": the shapes must be equal");
}

template <class T, std::size_t Rank>
copy_side pageable_side(T* data, const extents<Rank>& e) {
  copy_side side;
  side.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data));
  const auto s = row_major(e);
  for (std::size_t d = 0; d != Rank; ++d) side.stride_bytes[d] = s[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  return side;
}

template <class To, class From>
void copy_views(const stream_ref* s, const From& from, To& to) {
  static_assert(!std::is_const_v<typename To::element_type>, "copy(from, to): the destination is read-only");
  static_assert(std::is_same_v<typename To::value_type, typename From::value_type>,
                "copy(from, to): the element types differ");
  static_assert(To::rank == From::rank, "copy(from, to): the ranks differ");
  need_same_shape(from.extents(), to.extents());
  if (from.empty()) return;
  copy_elements(s, side_of(to), side_of(from), shape_of<typename To::value_type>(from.extents()));
}

template <class T, class To>
void upload(const stream_ref* s, std::span<const T> from, To& to) {
  static_assert(!std::is_const_v<typename To::element_type>, "copy(from, to): the destination is read-only");
  if (from.size() != to.size())
    throw invalid_argument("copy of " + std::to_string(from.size()) + " elements to an array of shape " +
                           to.extents().text());
  if (to.empty()) return;
  copy_elements(s, side_of(to), pageable_side(from.data(), to.extents()), shape_of<T>(to.extents()));
}

template <class T, class From>
void download(const stream_ref* s, const From& from, std::span<T> to) {
  if (to.size() != from.size())
    throw invalid_argument("copy of an array of shape " + from.extents().text() + " to " + std::to_string(to.size()) +
                           " elements");
  if (from.empty()) return;
  copy_elements(s, pageable_side(to.data(), from.extents()), side_of(from), shape_of<T>(from.extents()));
}

}  // namespace detail

// Copies every element; shapes must be equal. Ordered on `s`, or on this thread's stream of the destination's device.
// Does not block, unless one side is strided and the two lie on devices that are no peers (then scratch is allocated).
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to) {
  detail::copy_views(&s, from, to);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to) {
  detail::copy_views(nullptr, from, to);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to) {
  detail::copy_views(nullptr, from, to);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to) {
  detail::copy_views(&s, from, to);
}

// From and to memory of the CPU, in row-major order. Blocks until that memory was read or written.
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, array_view<T, Rank, Kind>& to) {
  detail::upload(nullptr, from, to);
}
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, array_view<T, Rank, Kind>&& to) {
  detail::upload(nullptr, from, to);
}
template <class T, std::size_t Rank, memory_kind Kind>
void copy(const array_view<T, Rank, Kind>& from, std::span<std::remove_const_t<std::type_identity_t<T>>> to) {
  detail::download(nullptr, from, to);
}

// The elements in row-major order. Blocks until the array is written and copied.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<std::remove_const_t<T>> to_vector(const array_view<T, Rank, Kind>& a) {
  std::vector<std::remove_const_t<T>> v(a.size());
  copy(a, std::span<std::remove_const_t<T>>(v));
  return v;
}

}  // namespace ferry
