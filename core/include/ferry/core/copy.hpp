/// @file
/// Copies between arrays, views and host memory of all kinds and devices.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/copies/copy_call.hpp"
#include "ferry/core/detail/copies/copy_side.hpp"
#include "ferry/core/detail/copies/cpu_elements.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

/// Copies every element; the shapes must be equal.
///
/// Numbers of different types are converted, as static_cast does. Ordered on `s`, or on the calling thread's stream of
/// the destination's device. Each array has one recorded access, whatever the route (see route.hpp). Does not block,
/// except on the first use of a pair of devices, for new staging buffers, and where scratch memory is needed.
/// @throws invalid_argument if the shapes differ
/// @throws use_after_free if an array was freed
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to,
          source_line at = source_line::here()) {
  detail::copy_views(&s, from, to, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to, source_line at = source_line::here()) {
  detail::copy_views(nullptr, from, to, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to, source_line at = source_line::here()) {
  detail::copy_views(nullptr, from, to, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to,
          source_line at = source_line::here()) {
  detail::copy_views(&s, from, to, at);
}

/// One copy of copy_many().
class copy_task {
 public:
  /// A copy of `from` to `to`. Shares the memory of both until the task is destroyed.
  /// @throws invalid_argument if the shapes differ
  template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
  copy_task(const array_view<T, Rank, From>& from, array_view<U, Rank, To> to, source_line at = source_line::here())
      : to_owner_(to.owner()),
        from_owner_(from.owner()),
        to_(detail::side_of(to, at)),
        from_(detail::side_of(from, at)),
        shape_(detail::shape_of<std::remove_const_t<T>>(from.extents())) {
    static_assert(!std::is_const_v<U>, "copy_task(from, to): the destination is read-only");
    static_assert(std::is_same_v<U, std::remove_const_t<T>>, "copy_task(from, to): the element types differ");
    detail::need_same_shape(from.extents(), to.extents(), from, to, at);
  }
  /// Destination and source; valid as long as the task.
  detail::copy_side to() const { return owned(to_, to_owner_); }
  detail::copy_side from() const { return owned(from_, from_owner_); }
  /// Shape of the copy, in elements.
  const detail::strided_shape& shape() const { return shape_; }

 private:
  static detail::copy_side owned(detail::copy_side side, const detail::allocation_ref& by) {
    side.owner = &by;
    return side;
  }
  detail::allocation_ref to_owner_, from_owner_;
  detail::copy_side to_, from_;
  detail::strided_shape shape_;
};

/// Runs several copies as one operation. Many small copies cost little more than one. Tasks where one reads or writes
/// what another writes run in order, as separate copies would. Ordered on `s`; blocks as copy() does.
void copy_many(stream_ref s, std::span<const copy_task> tasks);
/// @overload
inline void copy_many(stream_ref s, std::initializer_list<copy_task> tasks) {
  copy_many(s, std::span<const copy_task>(tasks.begin(), tasks.size()));
}

/// Copies between an array and host memory.
///
/// Host memory is anything that converts to std::span, `std::vector<bool>`, or an mdspan. Spans and vectors are in
/// row-major order and must have as many elements as the array. An mdspan must have the shape of the array; it may be
/// strided. A temporary that owns its elements cannot be a destination. Numbers of different types are converted.
/// Ordered on `s`, or on the calling thread's stream of the array's device. Blocks until the host memory has been read
/// or written. Strided host memory is first packed into a temporary of equal size in host memory.
/// @throws invalid_argument if shapes or counts differ, or if strided memory is on a device
template <detail::cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(From&& from, array_view<T, Rank, Kind>& to, source_line at = source_line::here()) {
  detail::upload(nullptr, from, to, at);
}
/// @overload
template <detail::cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(From&& from, array_view<T, Rank, Kind>&& to, source_line at = source_line::here()) {
  detail::upload(nullptr, from, to, at);
}
/// @overload
template <detail::cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, From&& from, array_view<T, Rank, Kind>& to, source_line at = source_line::here()) {
  detail::upload(&s, from, to, at);
}
/// @overload
template <detail::cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, From&& from, array_view<T, Rank, Kind>&& to, source_line at = source_line::here()) {
  detail::upload(&s, from, to, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, detail::cpu_values To>
void copy(const array_view<T, Rank, Kind>& from, To&& to, source_line at = source_line::here()) {
  detail::download(nullptr, from, std::forward<To>(to), at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, detail::cpu_values To>
void copy(stream_ref s, const array_view<T, Rank, Kind>& from, To&& to, source_line at = source_line::here()) {
  detail::download(&s, from, std::forward<To>(to), at);
}
/// Copies from host memory to host memory.
///
/// Blocks until the copy is complete. With a stream, first blocks until all work enqueued to `s` is complete. Without a
/// stream it waits for nothing. Overlapping ranges copy the contents from before the call.
/// @throws invalid_argument for device memory, and inside a capture
template <detail::cpu_elements From, detail::cpu_elements To>
void copy(From&& from, To&& to, source_line at = source_line::here()) {
  detail::copy_on_the_cpu(nullptr, from, std::forward<To>(to), at);
}
/// @overload
template <detail::cpu_elements From, detail::cpu_elements To>
void copy(stream_ref s, From&& from, To&& to, source_line at = source_line::here()) {
  detail::copy_on_the_cpu(&s, from, std::forward<To>(to), at);
}

/// The elements in row-major order. Blocks until the array is written and copied.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<std::remove_const_t<T>> to_vector(const array_view<T, Rank, Kind>& a,
                                              source_line at = source_line::here()) {
  using U = std::remove_const_t<T>;
  return detail::written_vector<U>(a.size(), [&](std::span<U> all) { copy(a, all, at); });
}

// Definitions of array members that copy.

template <class T, std::size_t Rank, memory_kind Kind>
basic_array<T, Rank, Kind> basic_array<T, Rank, Kind>::from(std::span<const T> elements, const extents<Rank>& e,
                                                            ferry::device d) {
  basic_array a(e, d);
  copy(elements, a, source_line{});
  return a;
}

template <class T, std::size_t Rank, memory_kind Kind>
basic_array<T, Rank, Kind> basic_array<T, Rank, Kind>::clone(source_line at) const {
  basic_array a(this->extents_, home_);
  copy(*this, a, at);
  return a;
}

template <class T, std::size_t Rank, memory_kind Kind>
auto array_view<T, Rank, Kind>::clone(source_line at) const -> basic_array<value_type, Rank, Kind> {
  basic_array<value_type, Rank, Kind> a(extents_, device());
  copy(*this, a, at);
  return a;
}

template <class T, std::size_t Rank, memory_kind Kind>
void basic_array<T, Rank, Kind>::resize(const extents<Rank>& e) {
  if (e == this->extents_) return;
  basic_array fresh(e, home_);
  auto both = e;
  for (std::size_t d = 0; d != Rank; ++d) both[d] = std::min(e[d], this->extents_[d]);
  if (this->owner_ && fresh.owner_) {
    view from(this->owner_, this->data_, both, this->strides_), to(fresh.owner_, fresh.data_, both, fresh.strides_);
    copy(std::as_const(from), to, source_line{});
    fresh.name(this->name());
  }
  swap(fresh);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
