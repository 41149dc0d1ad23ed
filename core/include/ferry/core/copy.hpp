// Copies between arrays, views and memory of the CPU, whatever kinds and devices they are of.
#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/detail/arrays/basic_array.hpp"
#include "ferry/core/detail/copies/cpu_elements.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"

namespace ferry {

namespace detail {

// One side of a copy, without its type. `owner` is null for memory of the CPU that ferry does not know.
struct copy_side {
  const allocation_ref* owner = nullptr;
  std::byte* data = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
  byte_range bytes;
  bool contiguous = true;
  source_line at = {};  // where the copy was asked for
};

// Ordered on s, as one use of each side. Blocks the CPU when a side is pageable memory. shape has the elements of the
// source; where the types differ, numbers are converted.
void copy_elements(const stream_ref* s, const copy_side& to, const copy_side& from, const strided_shape& shape,
                   number_type to_type = number_type::none, number_type from_type = number_type::none);

// An upload from memory of the CPU in two parts, so that one can be read while another one has its turn on the stream. Those
// of one stream come one after the other anyway, and wait for the chunks of those that were given rather than take more.
class begun_upload {
 public:
  // Plans the copy and takes what it needs, and threads begin to read pageable memory, which must stay as it is until give()
  // returns, or later where is_read_later(). May block for chunks; throws what can be thrown.
  begun_upload(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape);
  // Waits for those threads. An upload that was never given has left no trace.
  ~begun_upload();
  begun_upload(begun_upload&&) noexcept;
  // The copy, as copy_elements gives it, but without waiting for it. Once; in any thread.
  void enqueue();
  // Whether the device may read the memory when the copy's turn comes: always, unless threads read it.
  bool is_read_later() const;
  // After give(): blocks until it was read.
  void wait_until_read();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
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

// What messages call one side of a copy: an array, or elements of the CPU.
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

// from, to: arrays, elements of the CPU, or extents.
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

// Row-major elements of that shape.
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

// What must hold of the element types of a copy.
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

// What is copied must be there afterwards: in an lvalue, or in what only refers to its elements (std::span, mdspan).
template <class To>
constexpr void need_lasting_destination() {
  static_assert(
      std::is_lvalue_reference_v<To> || is_mdspan<std::remove_cvref_t<To>> || std::ranges::borrowed_range<To>,
      "copy(from, to): the destination is a temporary that owns its elements, and they would go with it. Give "
      "a variable, or a std::span or mdspan of what stays");
}

// The copy of elements of a shape, of the types of From and To.
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

// Memory of the CPU as the side of a copy of that shape: its own, if it has one, else in row-major order.
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

// Copies every element; shapes must be equal. Numbers of different types are converted, as static_cast does. Ordered on
// `s`, or on this thread's stream of the destination's device. One use of each array, whatever the way (see route.hpp). Does
// not block, except on first use of a pair of devices or of a size of ring, and where scratch memory is needed.
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to,
          source_line at = source_line::here()) {
  detail::copy_views(&s, from, to, at);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>& to, source_line at = source_line::here()) {
  detail::copy_views(nullptr, from, to, at);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to, source_line at = source_line::here()) {
  detail::copy_views(nullptr, from, to, at);
}
template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
void copy(stream_ref s, const array_view<T, Rank, From>& from, array_view<U, Rank, To>&& to,
          source_line at = source_line::here()) {
  detail::copy_views(&s, from, to, at);
}

// One of several copies.
class copy_task {
 public:
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
  // Valid as long as the task.
  detail::copy_side to() const { return owned(to_, to_owner_); }
  detail::copy_side from() const { return owned(from_, from_owner_); }
  const strided_shape& shape() const { return shape_; }

 private:
  static detail::copy_side owned(detail::copy_side side, const allocation_ref& by) {
    side.owner = &by;
    return side;
  }
  allocation_ref to_owner_, from_owner_;
  detail::copy_side to_, from_;
  strided_shape shape_;
};

// Several copies as one operation: small ones cost little more than one. Where one reads or writes what another writes
// they run one after the other, as if each had been asked for by itself. Ordered on `s`; blocks as copy does.
void copy_many(stream_ref s, std::span<const copy_task> tasks);
inline void copy_many(stream_ref s, std::initializer_list<copy_task> tasks) {
  copy_many(s, std::span<const copy_task>(tasks.begin(), tasks.size()));
}

// From and to memory of the CPU: whatever std::span can be made of, and std::vector<bool>, in row-major order and as long as
// the other side, and mdspans of the other side's shape, strided or not; a temporary that owns its elements is no
// destination. Numbers of different types are converted. Ordered on `s`, or on this thread's stream of the array's device. Blocks until that memory was
// read or written. Strided memory of the CPU is packed into as much memory of the CPU first; throws invalid_argument for that
// of a device.
template <cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(From&& from, array_view<T, Rank, Kind>& to, source_line at = source_line::here()) {
  detail::upload(nullptr, from, to, at);
}
template <cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(From&& from, array_view<T, Rank, Kind>&& to, source_line at = source_line::here()) {
  detail::upload(nullptr, from, to, at);
}
template <cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, From&& from, array_view<T, Rank, Kind>& to, source_line at = source_line::here()) {
  detail::upload(&s, from, to, at);
}
template <cpu_values From, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, From&& from, array_view<T, Rank, Kind>&& to, source_line at = source_line::here()) {
  detail::upload(&s, from, to, at);
}
template <class T, std::size_t Rank, memory_kind Kind, cpu_values To>
void copy(const array_view<T, Rank, Kind>& from, To&& to, source_line at = source_line::here()) {
  detail::download(nullptr, from, std::forward<To>(to), at);
}
template <class T, std::size_t Rank, memory_kind Kind, cpu_values To>
void copy(stream_ref s, const array_view<T, Rank, Kind>& from, To&& to, source_line at = source_line::here()) {
  detail::download(&s, from, std::forward<To>(to), at);
}
// Between memory of the CPU and memory of the CPU. Blocks until it is done, and before that until all is over that `s` was
// given; without a stream it waits for nothing. What overlaps is copied as it was before. Throws invalid_argument for memory
// of a device, and inside a capture.
template <cpu_elements From, cpu_elements To>
void copy(From&& from, To&& to, source_line at = source_line::here()) {
  detail::copy_on_the_cpu(nullptr, from, std::forward<To>(to), at);
}
template <cpu_elements From, cpu_elements To>
void copy(stream_ref s, From&& from, To&& to, source_line at = source_line::here()) {
  detail::copy_on_the_cpu(&s, from, std::forward<To>(to), at);
}

// The elements in row-major order. Blocks until the array is written and copied.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<std::remove_const_t<T>> to_vector(const array_view<T, Rank, Kind>& a,
                                              source_line at = source_line::here()) {
  using U = std::remove_const_t<T>;
  return detail::written_vector<U>(a.size(), [&](std::span<U> all) { copy(a, all, at); });
}

// Members of arrays that copy.

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

}  // namespace ferry
