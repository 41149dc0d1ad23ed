/// @file
/// Copies between arrays, views and host memory of all kinds and devices.
#pragma once
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/copies/cpu_elements.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

namespace detail {

// One side of a copy, without its element type. `owner` is null for host memory that ferry does not track.
struct copy_side {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
  byte_range bytes;
  bool contiguous = true;
  source_line at = {};  // source line of the call
};
inline bool is_array(const copy_side& s) { return s.owner != nullptr; }

// Copies elements, ordered on s, as one access of each side. Blocks the CPU if a side is pageable memory. `shape` is in
// elements of the source. If the types differ, numbers are converted.
void copy_elements(const stream_ref* s, const copy_side& to, const copy_side& from, const strided_shape& shape,
                   number_type to_type = number_type::none, number_type from_type = number_type::none);

// An upload from host memory in two steps, so that reading one overlaps with the wait for another one's submission
// slot. Uploads to one stream serialize anyway. They wait for the staging buffers of enqueued uploads instead of
// allocating more.
class begun_upload {
 public:
  // Plans the copy, acquires its resources, and starts threads that read pageable memory. That memory must not change
  // before enqueue() returns; if is_read_later(), before wait_until_read() returns. May block for staging buffers.
  // Performs all steps that can throw.
  begun_upload(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape);
  // Waits for those threads. An upload that was never enqueued has no effect.
  ~begun_upload();
  begun_upload(begun_upload&&) noexcept;
  // Enqueues the copy as copy_elements does, but does not wait for it. Call once, from any thread.
  void enqueue();
  // True if the device may read the memory as late as the copy runs: always, unless threads read it.
  bool is_read_later() const;
  // Call after enqueue(). Blocks until the memory has been read.
  void wait_until_read();

 private:
  struct parts;
  detail::owning_ptr<parts> parts_;
};

// Throws use_after_free.
template <class T, std::size_t Rank, memory_kind Kind>
copy_side side_of(const array_view<T, Rank, Kind>& v, source_line at = {}) {
  if (v.owner()) (void)v.need_alive(at);
  copy_side side{&v.owner(),
                 reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(v.unsynchronized_data())),
                 {},
                 v.bytes(),
                 v.is_contiguous(),
                 at};
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

// Name of one side of a copy for messages: an array, or elements in host memory.
template <class Side>
std::string side_text(const Side& side) {
  if constexpr (requires { side.look(); })
    return array_text(side.look());
  else if constexpr (requires { side.shape; })
    return Side::is_shaped ? "memory of the CPU of shape " + side.shape.text() : side.shape.text() + " elements";
  else
    return "shape " + side.text();
}
[[noreturn]] void throw_shapes_differ(const std::string& from, const std::string& to, source_line at);

// from, to: arrays, elements in host memory, or extents.
template <std::size_t Rank, class From, class To>
void need_same_shape(const extents<Rank>& from_shape, const extents<Rank>& to_shape, const From& from, const To& to,
                     source_line at) {
  if (!(from_shape == to_shape)) throw_shapes_differ(side_text(from), side_text(to), at);
}
template <std::size_t Rank>
void need_same_shape(const extents<Rank>& from, const extents<Rank>& to, source_line at = {}) {
  need_same_shape(from, to, from, to, at);
}
[[noreturn]] void throw_counts_differ(const std::string& from, const std::string& to, source_line at);

// Side of a copy in host memory with these strides, or in row-major order.
template <class T, std::size_t Rank>
copy_side pageable_side(T* data, const extents<Rank>& e, const strides<Rank>& s) {
  copy_side side;
  side.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data));
  for (std::size_t d = 0; d != Rank; ++d) side.stride_bytes[d] = s[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  side.contiguous = is_contiguous(e, s);
  return side;
}
template <class T, std::size_t Rank>
copy_side pageable_side(T* data, const extents<Rank>& e) {
  return pageable_side(data, e, row_major(e));
}

// Compile-time checks of the element types of a copy.
template <class From, class To>
constexpr void need_element_types() {
  using T = typename To::value_type;
  using U = typename From::value_type;
  static_assert(!std::is_const_v<typename To::element_type>, "copy(from, to): the destination is read-only");
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<U>,
                "copy(from, to): the elements are not trivially copyable");
  static_assert(
      std::is_same_v<T, U> || (number_type_of<T>() != number_type::none && number_type_of<U>() != number_type::none),
      "copy(from, to): the element types differ, and they are not both numbers");
}

// Checks that the destination outlives the copy: an lvalue, or a type that only refers to its elements (std::span,
// mdspan).
template <class To>
constexpr void need_lasting_destination() {
  static_assert(std::is_lvalue_reference_v<To> || is_mdspan<std::remove_cvref_t<To>> || std::ranges::borrowed_range<To>,
                "copy(from, to): the destination is a temporary that owns its elements, and destroys them. Pass a "
                "variable, or a std::span or mdspan of memory that outlives the copy");
}

// Copies elements of this shape, with the element types of From and To.
template <class To, class From, std::size_t Rank>
void copy_typed(const stream_ref* s, const copy_side& to, const copy_side& from, const extents<Rank>& e) {
  using T = typename To::value_type;
  using U = typename From::value_type;
  if (e.count() == 0) return;
  if constexpr (std::is_same_v<T, U>)
    copy_elements(s, to, from, shape_of<U>(e));
  else
    copy_elements(s, to, from, shape_of<U>(e), number_type_of<T>(), number_type_of<U>());
}

template <class To, class From>
void copy_views(const stream_ref* s, const From& from, To& to, source_line at) {
  need_element_types<From, To>();
  static_assert(To::rank == From::rank, "copy(from, to): the ranks differ");
  need_same_shape(from.extents(), to.extents(), from, to, at);
  copy_typed<To, From>(s, side_of(to, at), side_of(from, at), from.extents());
}

// Host memory as a side of a copy of this shape: its own strides if it has them, else row-major order.
template <class Side, std::size_t Rank>
copy_side in_shape(const Side& side, const extents<Rank>& e) {
  if constexpr (Side::is_shaped) {
    static_assert(Side::rank == Rank, "copy(from, to): the ranks differ");
    return pageable_side(side.data, e, side.steps);
  } else {
    return pageable_side(side.data, e);
  }
}

template <class From, class To>
void upload(const stream_ref* s, From&& memory, To& to, source_line at) {
  const auto from = cpu_side_of(memory);
  need_element_types<std::remove_const_t<decltype(from)>, To>();
  if constexpr (from.is_shaped)
    need_same_shape(from.shape, to.extents(), from, to, at);
  else if (from.shape[0] != to.size())
    throw_counts_differ(side_text(from), side_text(to), at);
  copy_typed<To, decltype(from)>(s, side_of(to, at), in_shape(from, to.extents()), to.extents());
}

template <class From, class To>
void download(const stream_ref* s, const From& from, To&& memory, source_line at) {
  need_lasting_destination<To>();
  const auto to = cpu_side_of(memory);
  need_element_types<From, std::remove_const_t<decltype(to)>>();
  if constexpr (to.is_shaped)
    need_same_shape(from.extents(), to.shape, from, to, at);
  else if (to.shape[0] != from.size())
    throw_counts_differ(side_text(from), side_text(to), at);
  copy_typed<decltype(to), From>(s, in_shape(to, from.extents()), side_of(from, at), from.extents());
}

template <vector_of_bool From, class To>
void upload(const stream_ref* s, From&& memory, To& to, source_line at) {
  upload(s, std::span<const bool>(cpu_buffer<bool>(memory).span()), to, at);
}
template <class From, vector_of_bool To>
void download(const stream_ref* s, const From& from, To&& memory, source_line at) {
  need_lasting_destination<To>();
  static_assert(!std::is_const_v<std::remove_reference_t<To>>, "copy(from, to): the destination is read-only");
  const cpu_buffer<bool> all(memory.size());
  download(s, from, all.span(), at);
  std::copy(all.data(), all.data() + all.size(), memory.begin());
}

template <class From, class To>
void copy_on_the_cpu(const stream_ref* s, From&& source, To&& target, source_line at) {
  need_lasting_destination<To>();
  const auto from = cpu_side_of(source);
  const auto to = cpu_side_of(target);
  using from_side = std::remove_const_t<decltype(from)>;
  using to_side = std::remove_const_t<decltype(to)>;
  need_element_types<from_side, to_side>();
  const auto enqueue = [&](const auto& e) { copy_typed<to_side, from_side>(s, in_shape(to, e), in_shape(from, e), e); };
  if constexpr (from_side::is_shaped && to_side::is_shaped) {
    static_assert(from_side::rank == to_side::rank, "copy(from, to): the ranks differ");
    need_same_shape(from.shape, to.shape, from, to, at);
  } else if (from.shape.count() != to.shape.count()) {
    throw_counts_differ(side_text(from), side_text(to), at);
  }
  if constexpr (from_side::is_shaped)
    enqueue(from.shape);
  else
    enqueue(to.shape);
}

}  // namespace detail

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
