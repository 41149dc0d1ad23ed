// Compile-time checks that a functor fits a loop, a reduction or submit(): at most one compile error, with its remedy.
#pragma once
#include <string_view>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/index_space.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A call that compiles, with the types that the functor declares for its arguments (void: unknown).
template <class... P>
struct accepted_call {};
struct refused_call {};

// How arguments are passed to the functor: here for one device.
struct device_arguments {
  template <class P, class A>
  using given = decltype(as_argument<P>(std::declval<A>()));
  static constexpr bool in_kernel = true;
};
// The functor runs once, on the CPU, and may be non-const.
struct submitted_arguments : device_arguments {
  static constexpr bool in_kernel = false;
};

inline namespace FERRY_UNIT {

template <class F>
consteval call_fault fault_of_lambda() {
#if defined(__CUDACC_EXTENDED_LAMBDA__)
  if (__nv_is_extended_device_lambda_closure_type(F)) return call_fault::device_lambda;
  // Only the spelling of the type distinguishes a lambda from a struct: "[with F = lambda [](int)->void]".
  constexpr std::string_view spelling = __PRETTY_FUNCTION__;
  constexpr bool is_lambda =
      spelling.find("F = lambda [") != spelling.npos || spelling.find("F=lambda [") != spelling.npos;
  if (is_lambda && !__nv_is_extended_host_device_lambda_closure_type(F)) return call_fault::plain_lambda;
#endif
  return call_fault::none;
}

// A call of F with the parameters of a space or stream, then A.... Result: a return value is required.
template <class Arguments, bool Result, class F, class Front, class... A>
struct call_check;
template <class Arguments, bool Result, class F, class... Front, class... A>
struct call_check<Arguments, Result, F, void(Front...), A...> {
  using fault_type = call_fault;
  using function = std::conditional_t<Arguments::in_kernel, const F&, F&>;

  template <class... P>
  static consteval fault_type find(detail::accepted_call<P...>) {
    using declared = declared_parameters<F>;
    if (const fault_type lambda = Arguments::in_kernel ? fault_of_lambda<F>() : fault_type::none;
        lambda != fault_type::none)
      return lambda;
    if constexpr (declared::known)
      if (Arguments::in_kernel && !declared::is_const) return fault_type::not_const;
    fault_type found = fault_type::none;
    const auto look = [&](fault_type one) {
      if (found == fault_type::none) found = one;
    };
    (look(parameter<P, typename Arguments::template given<P, A>>::fault), ...);
    if constexpr (declared::known)
      if (declared::count != sizeof...(Front) + sizeof...(A)) look(fault_type::number_of_arguments);
    return found;
  }
  template <class... P>
  static consteval fault_type find_in_call(detail::accepted_call<P...>) {
    return fault_of_types<typename parameter<P, typename Arguments::template given<P, A>>::type...>();
  }
  template <class... Parameter>
  static consteval fault_type fault_of_types() {
    if constexpr (!std::is_invocable_v<function, Front..., const Parameter&...>)
      return std::is_invocable_v<F&, Front..., const Parameter&...> ? fault_type::not_const : fault_type::not_callable;
    else if constexpr (Result)
      return std::is_void_v<std::invoke_result_t<function, Front..., const Parameter&...>> ? fault_type::no_result
                                                                                           : fault_type::none;
    else
      return fault_type::none;
  }
  template <std::size_t... I>
  static detail::accepted_call<typename declared_at<F, sizeof...(Front) + I>::type...> declared(
      std::index_sequence<I...>);

  using accepted = decltype(declared(std::index_sequence_for<A...>()));
  static constexpr fault_type fault = [] {
    if constexpr (constexpr fault_type f = find(accepted()); f != fault_type::none)
      return f;
    else
      return find_in_call(accepted());
  }();
};
template <class Arguments, bool Result, class F, class... A>
struct call_check<Arguments, Result, F, space_beyond, A...> {
  static constexpr call_fault fault = call_fault::too_many_dimensions;
};

// The parameters that a space adds before the arguments.
template <class Space>
struct front_of {
  using type = typename Space::index_list;
};
template <>
struct front_of<space_beyond> {
  using type = space_beyond;
};

template <class Space, class F, class... A>
using loop_check = call_check<detail::device_arguments, false, F, typename front_of<Space>::type, A...>;
template <class Space, class F, class... A>
using reduction_check = call_check<detail::device_arguments, true, F, typename front_of<Space>::type, A...>;

// Returns accepted_call<...>, or reports the error and returns refused_call.
template <class Check>
consteval auto checked() {
  using enum call_fault;
  constexpr auto fault = Check::fault;
  static_assert(
      fault != too_many_dimensions,
      "join the outer dimensions of the index space into one, as in {a * b, c, d, e, f, g}, and take them apart in "
      "the functor by / b and % b: a loop has at most 6 dimensions");
  static_assert(fault != plain_lambda,
                "mark the lambda FERRY_HOST_DEVICE and declare the types of its parameters, none as auto: "
                "[=] FERRY_HOST_DEVICE (std::size_t i, float* y) { ... }. nvcc compiles no other lambda for devices");
  static_assert(fault != device_lambda,
                "mark the lambda FERRY_HOST_DEVICE instead of __device__: simulated devices run it on the CPU");
  static_assert(
      fault != not_const,
      "declare the functor's call operator const, and a lambda without mutable: all indices share one functor");
  static_assert(fault != cpu_container,
                "pass ferry::as_unified(v) or an array of ferry, as unified_array, instead of a container such as "
                "std::vector: devices cannot use its elements");
  static_assert(
      fault != not_computed,
      "compute the expression before the call, and pass the result: ferry::scalar<T> s = e of one value, which "
      "the functor takes as ferry::mdspan<const T, 0>; ferry::evaluate(e) of several; of sharded arrays "
      "ferry::team_scalar<T> s = e, or an array that e is assigned to. Kernels take no expressions or "
      "reductions, which are computed when they are assigned");
  static_assert(fault != not_copyable,
                "pass the arrays of a struct one by one, or as a ferry::soa, or list its members by FERRY_MEMBERS; "
                "loop over owned(a) for a sharded array a: a "
                "kernel argument that is not an array must be trivially copyable");
  static_assert(fault != number_of_arguments,
                "pass one argument for each parameter behind the indices (or the stream): "
                "the functor takes another number of arguments than the call gives it");
  static_assert(
      fault != read_only,
      "pass inout(a) or out(a), or declare the parameter const: in given to a writing functor. The argument is "
      "passed as in(a) or as a const array, and the functor takes its elements as non-const");
  static_assert(fault != out_of_a_reader,
                "pass in(a), or declare the parameter's elements non-const: out(a) promises that every element is "
                "written, and the functor only reads them");
  static_assert(
      fault != other_rank,
      "declare the parameter with the rank of the array: the functor takes an mdspan or shard_span of another "
      "rank than the array has");
  static_assert(
      fault != other_elements,
      "declare the parameter with the array's type, or copy() the array to one of the other type: the functor "
      "takes a pointer or mdspan to elements of another type than the array has, and nothing converts them");
  static_assert(
      fault != number_of_a_scalar,
      "declare the parameter as ferry::mdspan<const T, 0> v, and read v(), or pass T(s), which waits for the value: "
      "the functor takes a number, and the argument is a scalar, whose value need not be computed yet");
  static_assert(fault != no_soa_span,
                "declare the parameter as ferry::soa_span<...>, by value: the functor gets a structure of arrays here");
  static_assert(
      fault != other_members,
      "declare the parameter as a soa_span of the members that the structure of arrays has: the functor takes a "
      "soa_span of other members than the structure of arrays has");
  static_assert(fault != no_shard_span,
                "declare the parameter as ferry::shard_span<T, Rank>: the functor gets a sharded array here");
  static_assert(
      fault != no_struct_of_shards,
      "declare the parameter as S<ferry::shard_span>, or S<ferry::const_shard_span> if it is only read, where "
      "S is the template of the struct: the functor gets a struct of sharded arrays here");
  static_assert(
      fault != no_gathered_span,
      "declare the parameter as ferry::gathered_span<const T, Rank>: the functor gets a sharded array with the "
      "ghosts of an exchange plan here");
  static_assert(fault != fixed_struct,
                "make the struct a template over its arrays: template <template <class, std::size_t> class A> struct S "
                "{ A<float, "
                "2> x; int n; FERRY_MEMBERS(x, n); }, whose other members are trivially copyable (no std::tuple or "
                "std::pair), or "
                "pass its arrays one by one: kernels take a struct of arrays as S<ferry::mdspan>");
  static_assert(fault != no_struct_span,
                "declare the parameter as S<ferry::mdspan>, or S<ferry::const_mdspan> if it is only read, where S is "
                "the template of the struct: the functor gets a struct of spans here");
  static_assert(
      fault != not_callable,
      "declare the functor's parameters as the call passes them: std::size_t for each dimension (or one "
      "ferry::tile), then T* or ferry::mdspan<T, Rank> for each array, and values by value or const reference");
  static_assert(fault != device_memory,
                "copy the array to a ferry::host_array and pass that, or make it a ferry::unified_array: a host task "
                "runs on the CPU, which cannot access memory of a device. Work for the device goes to ferry::submit");
  static_assert(fault != no_result, "return a value from the functor: parallel_reduce joins what it returns");
  if constexpr (fault == none)
    return typename Check::accepted();
  else
    return detail::refused_call();
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
