// What a kernel is given: arrays with the way they are used, and plain values.
#pragma once
#include <type_traits>
#include <utility>

#include "ferry/core/array.hpp"
#include "ferry/core/operation.hpp"

namespace ferry {

// An array in a call. T is const when it is only read. Refers to the array: for use within the call.
template <class T, std::size_t Rank>
struct array_argument {
  const allocation_ref* owner;
  mdspan<T, Rank> span;
  byte_range bytes;
  access_mode mode;
  bool contiguous;
  source_line at = {};  // where in(), out() or inout() was written
};

namespace detail {

template <class X>
inline constexpr bool is_array_argument = false;
template <class T, std::size_t Rank>
inline constexpr bool is_array_argument<array_argument<T, Rank>> = true;

template <class T, std::size_t Rank, memory_kind Kind>
array_label label_of(const array_view<T, Rank, Kind>& v) {
  return array_label(v.name().c_str());
}

template <class To, class T, std::size_t Rank, memory_kind Kind>
array_argument<To, Rank> make_argument(const array_view<T, Rank, Kind>& v, access_mode mode, source_line at) {
  To* data = const_cast<To*>(v.unsynchronized_data());
  return {&v.owner(), mdspan<To, Rank>(data, v.extents(), v.strides(), label_of(v)), v.bytes(), mode, v.is_contiguous(),
          at};
}

}  // namespace detail

// Read only.
template <class T, std::size_t Rank, memory_kind Kind>
auto in(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  return detail::make_argument<const T>(v, access_mode::in, at);
}
// Read and written.
template <class T, std::size_t Rank, memory_kind Kind>
auto inout(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<T>, "inout(view): the view is read-only");
  return detail::make_argument<T>(v, access_mode::inout, at);
}
template <class T, std::size_t Rank, memory_kind Kind>
auto inout(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  return inout(v, at);
}
// Written, every element, and not read: old contents are gone when the work is submitted.
template <class T, std::size_t Rank, memory_kind Kind>
auto out(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<T>, "out(view): the view is read-only");
  return detail::make_argument<T>(v, access_mode::out, at);
}
template <class T, std::size_t Rank, memory_kind Kind>
auto out(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  return out(v, at);
}

namespace detail {

// Arguments as calls take them: const arrays are read, others read and written, the rest are values. `at` is the line of the
// call.
template <class A>
decltype(auto) as_argument(A&& a, source_line at = {}) {
  using X = std::remove_cvref_t<A>;
  if constexpr (is_array_argument<X>) {
    return X(a);
  } else if constexpr (requires { a.as_kernel_argument(at); }) {
    return a.as_kernel_argument(at);
  } else if constexpr (array_like<X>) {
    if constexpr (std::is_const_v<std::remove_reference_t<A>> || std::is_const_v<typename X::element_type>)
      return in(a, at);
    else
      return inout(a, at);
  } else {
    static_assert(std::is_trivially_copyable_v<X>,
                  "a kernel argument that is not an array must be trivially copyable: it is copied to the device");
    return X(a);
  }
}

template <class A>
void add_use(auto& list, const A& a) {
  if constexpr (is_array_argument<A>)
    list.add(*a.owner, a.bytes, a.mode != access_mode::in, a.mode == access_mode::out && a.contiguous, a.at);
}

template <class A>
void add_kernel_use(std::array<kernel_use, 16>& uses, std::size_t& n, const A& a) {
  if constexpr (is_array_argument<A>)
    if (a.bytes.begin != a.bytes.end) {  // what lies between the elements of a strided view is kept
      const bool reads = a.mode != access_mode::out || !a.contiguous;
      uses[n++] = {a.bytes.begin, a.bytes.size(), reads, a.mode != access_mode::in, a.span.label(), a.at};
    }
}

// The device of the first written argument, else of the first array, else the default device.
template <class... A>
device placement(const A&... a) {
  int written = -1, any = -1;
  [[maybe_unused]] auto look = [&](const auto& x) {
    if constexpr (is_array_argument<std::remove_cvref_t<decltype(x)>>) {
      if (!*x.owner) return;
      const int d = x.owner->get().device;
      if (any < 0) any = d;
      if (written < 0 && x.mode != access_mode::in) written = d;
    }
  };
  (look(a), ...);
  return written >= 0 ? device(written) : any >= 0 ? device(any) : default_device();
}

// Under memory checks, what out() promises to write reads as never written until then, so that a partial writer shows.
void poison_elements(stream_ref s, const allocation_ref& owner, byte_range hull, const strided_bytes& to,
                     const strided_shape& shape);

template <class A>
void poison_output([[maybe_unused]] stream_ref s, [[maybe_unused]] const A& a) {
  if constexpr (is_array_argument<A>) {
    if (a.mode != access_mode::out || a.bytes.size() == 0) return;
    strided_bytes to{const_cast<std::byte*>(a.bytes.begin), {1}};
    strided_shape shape{1, 1, {a.bytes.size()}};
    if constexpr (requires { a.span.stride(0); }) {
      constexpr std::size_t rank = std::remove_cvref_t<decltype(a.span)>::rank();
      if (!a.contiguous) {
        using T = typename std::remove_cvref_t<decltype(a.span)>::element_type;
        to.base = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(a.span.data()));
        shape.element_bytes = sizeof(T);
        shape.rank = rank;
        for (std::size_t d = 0; d != rank; ++d) {
          shape.extent[d] = a.span.extent(d);
          to.stride_bytes[d] = a.span.stride(d) * static_cast<std::ptrdiff_t>(sizeof(T));
        }
      }
    }
    poison_elements(s, *a.owner, a.bytes, to, shape);
  }
}
// Whether another argument of the call reads bytes that x covers: then the kernel must find them as they were.
template <class X, class O>
bool reads_bytes_of([[maybe_unused]] const X& x, [[maybe_unused]] const O& o) {
  if constexpr (is_array_argument<X> && is_array_argument<O>)
    return o.mode != access_mode::out && o.bytes.overlaps(x.bytes);
  else
    return false;
}
template <class X, class... A>
bool is_read_beside(const X& x, const A&... all) {
  return (reads_bytes_of(x, all) || ...);
}
template <class... A>
void poison_outputs([[maybe_unused]] stream_ref s, const A&... a) {
  if (machine::current().checks.has(check::poison)) [[unlikely]]
    ((is_read_beside(a, a...) ? void() : poison_output(s, a)), ...);
}

}  // namespace detail
}  // namespace ferry
