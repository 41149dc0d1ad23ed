// Copies between arrays, views and memory of the CPU, whatever kinds and devices they are of.
#pragma once
#include <initializer_list>
#include <memory>
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

// Ordered on s, as one use of each side. Blocks the CPU when a side is pageable memory. shape has the elements of the
// source; where the types differ, numbers are converted.
void copy_elements(const stream_ref* s, const copy_side& to, const copy_side& from, const strided_shape& shape,
                   number_type to_type = number_type::none, number_type from_type = number_type::none);

// An upload from memory of the CPU in two parts, so that one can be read while another one has its turn on the stream.
class begun_upload {
 public:
  // Plans the copy and takes what it needs, and threads begin to read pageable memory, which must stay as it is until give()
  // returns. May block for chunks; throws what can be thrown.
  begun_upload(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape);
  // Waits for those threads. An upload that was never given has left no trace.
  ~begun_upload();
  begun_upload(begun_upload&&) noexcept;
  // The copy, as copy_elements gives it. Once; in any thread.
  void give();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

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
  using T = typename To::value_type;
  using U = typename From::value_type;
  constexpr bool same = std::is_same_v<T, U>;
  static_assert(same || (number_type_of<T>() != number_type::none && number_type_of<U>() != number_type::none),
                "copy(from, to): the element types differ, and they are not both numbers");
  static_assert(To::rank == From::rank, "copy(from, to): the ranks differ");
  need_same_shape(from.extents(), to.extents());
  if (from.empty()) return;
  if constexpr (same)
    copy_elements(s, side_of(to), side_of(from), shape_of<U>(from.extents()));
  else
    copy_elements(s, side_of(to), side_of(from), shape_of<U>(from.extents()), number_type_of<T>(), number_type_of<U>());
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

// Copies every element; shapes must be equal. Numbers of different types are converted, as static_cast does. Ordered on
// `s`, or on this thread's stream of the destination's device. One use of each array, whatever the way (see route.hpp). Does
// not block, except on first use of a pair of devices or of a size of ring, and where scratch memory is needed.
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

// One of several copies.
class copy_task {
 public:
  template <class T, std::size_t Rank, memory_kind From, class U, memory_kind To>
  copy_task(const array_view<T, Rank, From>& from, array_view<U, Rank, To> to)
      : to_owner_(to.owner()),
        from_owner_(from.owner()),
        to_(detail::side_of(to)),
        from_(detail::side_of(from)),
        shape_(detail::shape_of<std::remove_const_t<T>>(from.extents())) {
    static_assert(!std::is_const_v<U>, "copy_task(from, to): the destination is read-only");
    static_assert(std::is_same_v<U, std::remove_const_t<T>>, "copy_task(from, to): the element types differ");
    detail::need_same_shape(from.extents(), to.extents());
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
