/// @file
/// Kernel arguments: arrays with their access modes, and plain values.
#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/members.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// An array in a call. T is const if it is only read. Refers to the array, so use it within the call only.
template <class T, std::size_t Rank>
struct array_argument {
  const detail::allocation_ref* owner;
  mdspan<T, Rank> span;
  detail::byte_range bytes;
  detail::access_mode mode;
  bool contiguous;
  source_line at = {};  ///< source line of in(), out() or inout()
};

/// An argument written as out(...): the call writes every element and reads none.
template <class A>
struct out_argument : A {
  using argument = A;
};

namespace detail {

// Why a call does not compile. call_checks.hpp has the messages.
enum class call_fault : std::uint8_t {
  none,
  too_many_dimensions,  // of the index space
  plain_lambda,         // nvcc: not marked FERRY_HOST_DEVICE
  device_lambda,        // nvcc: marked __device__ alone
  not_const,            // the functor's call operator is not const
  cpu_container,        // an argument, such as std::vector
  not_computed,         // an argument, an expression or a reduction
  not_copyable,         // an argument that is neither an array nor bytes
  number_of_arguments,
  read_only,        // the functor writes what the call only reads
  out_of_a_reader,  // out() of an array that the functor only reads
  other_rank,
  other_elements,
  number_of_a_scalar,  // the functor takes a number, and gets an array of rank 0
  no_soa_span,
  other_members,
  no_shard_span,
  no_struct_of_shards,  // the functor does not take the struct with shard_spans
  no_gathered_span,
  fixed_struct,    // a struct whose arrays do not follow a template parameter, or with members that kernels cannot take
  no_struct_span,  // the functor does not take the struct with spans
  not_callable,
  no_result,      // a reduction's functor returns nothing
  device_memory,  // an array of a device, where the CPU runs the functor
};

// Expressions and reductions, which are computed when they are assigned.
template <class X>
inline constexpr bool is_not_computed = false;
template <class T, std::size_t Rank>
inline constexpr bool is_not_computed<expression<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool is_not_computed<reduced<T, Rank>> = true;

template <class X>
inline constexpr bool is_array_argument = false;
template <class T, std::size_t Rank>
inline constexpr bool is_array_argument<array_argument<T, Rank>> = true;
template <class A>
inline constexpr bool is_array_argument<out_argument<A>> = is_array_argument<A>;

// What in(), inout() and out() return for arrays in memory of a device, which calls on the CPU refuse. as_argument()
// removes the mark.
template <class A>
struct device_argument : A {};
template <class A>
inline constexpr bool is_array_argument<device_argument<A>> = is_array_argument<A>;
template <class X>
struct unmarked_argument {
  using type = X;
  static constexpr bool is_of_device = false;
};
template <class A>
struct unmarked_argument<device_argument<A>> {
  using type = A;
  static constexpr bool is_of_device = true;
};
template <memory_kind Kind, class A>
auto marked_argument(const A& a) {
  if constexpr (Kind == memory_kind::device)
    return device_argument<A>{a};
  else
    return a;
}

// Structs of arrays, whose arrays are listed by each_array.
template <class X>
inline constexpr bool is_struct_argument = false;
template <class A>
inline constexpr bool is_struct_argument<out_argument<A>> = is_struct_argument<A>;

// Number of arrays in an argument; in a struct, the greatest number.
template <class A>
inline constexpr std::size_t most_arrays = is_array_argument<A> ? 1 : 0;

// Calls f(argument) for each array in an argument of a call.
template <class A, class F>
void each_array([[maybe_unused]] const A& a, [[maybe_unused]] const F& f) {
  if constexpr (is_struct_argument<A>)
    a.each_array(f);
  else if constexpr (is_array_argument<A>)
    f(a);
}

template <class X>
inline constexpr bool is_out_argument = false;
template <class A>
inline constexpr bool is_out_argument<out_argument<A>> = true;
template <class A>
inline constexpr bool is_out_argument<device_argument<A>> = is_out_argument<A>;

// True if a functor's parameter of type P, without const and reference, only reads the elements of its array. False if
// the functor declares no type (void).
template <class P>
inline constexpr bool only_reads = false;
template <class T>
inline constexpr bool only_reads<T*> = std::is_const_v<T>;
template <class T, std::size_t Rank>
inline constexpr bool only_reads<mdspan<T, Rank>> = std::is_const_v<T>;

// Placeholder for an argument that no call accepts.
template <call_fault Why>
struct refused_argument {};

// Throws use_after_free.
template <class T, std::size_t Rank, memory_kind Kind>
array_label label_of(const array_view<T, Rank, Kind>& v, source_line at) {
  return v.owner() ? array_label(v.need_alive(at).name.get().c_str()) : array_label();
}

template <class To, class T, std::size_t Rank, memory_kind Kind>
array_argument<To, Rank> make_argument(const array_view<T, Rank, Kind>& v, access_mode mode, source_line at) {
  To* data = const_cast<To*>(v.unsynchronized_data());
  return {&v.owner(),        mdspan<To, Rank>(data, v.extents(), v.strides(), label_of(v, at)),
          v.bytes(),         mode,
          v.is_contiguous(), at};
}

}  // namespace detail

/// Marks an array as read only.
/// @param v the array or view
/// @param at the caller's source line, for messages
/// @return the argument
template <class T, std::size_t Rank, memory_kind Kind>
auto in(const array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  return detail::marked_argument<Kind>(detail::make_argument<const T>(v, detail::access_mode::in, at));
}
/// Marks an array as read and written.
/// @param v the array or view
/// @param at the caller's source line, for messages
/// @return the argument
template <class T, std::size_t Rank, memory_kind Kind>
auto inout(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<T>, "inout(view): the view is read-only");
  return detail::marked_argument<Kind>(detail::make_argument<T>(v, detail::access_mode::inout, at));
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
auto inout(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  return inout(v, at);
}
/// Marks an array as written: every element is written and none is read. Old contents are undefined after the
/// submission.
/// @param v the array or view
/// @param at the caller's source line, for messages
/// @return the argument
template <class T, std::size_t Rank, memory_kind Kind>
auto out(array_view<T, Rank, Kind>& v, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<T>, "out(view): the view is read-only");
  return detail::marked_argument<Kind>(
      out_argument<array_argument<T, Rank>>{detail::make_argument<T>(v, detail::access_mode::out, at)});
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
auto out(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  return out(v, at);
}

namespace detail {

// Converts an argument for a functor that declares P (void: unknown). Arrays without in(), inout() or out() are read if
// they are const or P only reads, else read and written. All others are values. `at` is the source line of the call.
template <class P = void, class A>
auto as_argument(A&& a, source_line at = {}) {
  using X = std::remove_cvref_t<A>;
  constexpr bool reads = only_reads<std::remove_cvref_t<P>>;
  if constexpr (is_out_argument<X>) {
    if constexpr (reads)
      return refused_argument<call_fault::out_of_a_reader>();
    else
      return typename X::argument(a);
  } else if constexpr (is_array_argument<X>) {
    return typename unmarked_argument<X>::type(a);
  } else if constexpr (reads && !std::is_const_v<std::remove_reference_t<A>>) {
    return as_argument<P>(std::as_const(a), at);
  } else if constexpr (requires { a.as_kernel_argument(at); }) {
    return a.as_kernel_argument(at);
  } else if constexpr (array_like<X>) {
    if constexpr (std::is_const_v<std::remove_reference_t<A>> || std::is_const_v<typename X::element_type>)
      return make_argument<const typename X::element_type>(a, access_mode::in, at);
    else
      return make_argument<typename X::element_type>(a, access_mode::inout, at);
  } else if constexpr (std::is_trivially_copyable_v<X>) {
    return X(a);
  } else if constexpr (lists_members<X> && std::is_const_v<std::remove_reference_t<A>>) {
    return in(a, at);  // declared in struct_argument.hpp
  } else if constexpr (lists_members<X>) {
    return inout(a, at);
  } else if constexpr (is_not_computed<X>) {
    return refused_argument<call_fault::not_computed>();
  } else if constexpr (requires { a.begin(), a.size(); }) {
    return refused_argument<call_fault::cpu_container>();
  } else {
    return refused_argument<call_fault::not_copyable>();
  }
}

template <class A>
void add_use(access_collector& list, const A& a) {
  each_array(a, [&](const auto& x) {
    list.add(*x.owner, x.bytes, x.mode != access_mode::in, x.mode == access_mode::out && x.contiguous, x.at);
  });
}

// The device of the first written argument, else of the first array, else the default device.
template <class... A>
device placement(const A&... a) {
  int written = -1, any = -1;
  [[maybe_unused]] const auto look = [&](const auto& x) {
    if (!*x.owner) return;
    const int d = x.owner->get().device;
    if (any < 0) any = d;
    if (written < 0 && x.mode != access_mode::in) written = d;
  };
  (each_array(a, look), ...);
  return written >= 0 ? device(written) : any >= 0 ? device(any) : default_device();
}

// Elements that the kernel of a submission must write.
struct output_elements {
  strided_bytes at;
  strided_shape shape;
};

template <class A>
void add_outputs([[maybe_unused]] std::vector<output_elements>& list, [[maybe_unused]] const A& a) {
  if constexpr (is_array_argument<A>) {
    if (a.mode != access_mode::out || a.bytes.size() == 0) return;
    output_elements e{{const_cast<std::byte*>(a.bytes.begin), {1}}, {1, 1, {a.bytes.size()}}};
    if constexpr (requires { a.span.stride(0); }) {
      constexpr std::size_t rank = std::remove_cvref_t<decltype(a.span)>::rank();
      if (!a.contiguous) {
        using T = typename std::remove_cvref_t<decltype(a.span)>::element_type;
        e.at.base = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(a.span.data()));
        e.shape.element_bytes = sizeof(T);
        e.shape.rank = rank;
        for (std::size_t d = 0; d != rank; ++d) {
          e.shape.extent[d] = a.span.extent(d);
          e.at.stride_bytes[d] = a.span.stride(d) * static_cast<std::ptrdiff_t>(sizeof(T));
        }
      }
    }
    list.push_back(e);
  }
}
// True if another argument of the call reads bytes of `x`: then the kernel must find them unchanged.
template <class X, class Other>
bool reads_bytes_of(const X& x, const Other& other) {
  bool reads = false;
  each_array(other, [&](const auto& o) { reads |= o.mode != access_mode::out && o.bytes.overlaps(x.bytes); });
  return reads;
}
template <class X, class... A>
bool is_read_beside(const X& x, const A&... all) {
  return (reads_bytes_of(x, all) || ...);
}

// With memory checks, fills the elements that out() arguments must write, so that partial writes are visible. The fills
// are part of the kernel's submission: if the call is refused, nothing is filled.
class output_poison {
 public:
  template <class... A>
  void poison_outputs([[maybe_unused]] const A&... a) {
    if (runtime::current().checks.has(check::poison)) [[unlikely]]
      (each_array(a, [&](const auto& x) { is_read_beside(x, a...) ? void() : add_outputs(outputs_, x); }), ...);
  }
  std::vector<output_elements>& outputs_to_poison() { return outputs_; }

 protected:
  void enqueue_poison(native_stream s, const relocation& move = {}) const {
    if (!outputs_.empty()) [[unlikely]]
      fill_outputs(s, move);
  }

 private:
  void fill_outputs(native_stream s, const relocation& move) const;
  std::vector<output_elements> outputs_;
};

}  // namespace detail

/// @}

}  // namespace ferry::inline FERRY_ABI
