// Calls of transform(): their checks, and their submission.
#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/kernels/transform_launch.hpp"
#include "ferry/core/detail/kernels/transform_on_cpu.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/function.hpp"
#include "ferry/core/parallel_for.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr std::size_t most_outputs = 4;

template <class F>
inline constexpr bool is_element_function = false;
template <class F, class Signature>
inline constexpr bool is_element_function<element_function<F, Signature>> = true;

template <class A>
inline constexpr bool has_elements = false;
template <class T, std::size_t Rank>
inline constexpr bool has_elements<array_argument<T, Rank>> = true;
template <class A>
inline constexpr bool has_elements<out_argument<A>> = has_elements<A>;
template <class A>
inline constexpr bool has_elements<device_argument<A>> = has_elements<A>;
// The type of the elements of an array argument, without const.
template <class A>
using element_of_argument = std::remove_const_t<typename decltype(A::span)::element_type>;

// The number of arguments before the first one that is no out().
template <class... A>
consteval std::size_t leading_outputs() {
  std::size_t n = 0;
  bool goes_on = true;
  ((goes_on = goes_on && is_out_argument<std::remove_cvref_t<A>>, n += goes_on), ...);
  return n;
}

// The shape of an argument. Refers to the argument.
template <class T, std::size_t Rank>
struct argument_shape {
  explicit argument_shape(const array_argument<T, Rank>& a) : of(a) {
    for (std::size_t d = 0; d != Rank; ++d) extent[d] = a.span.extent(d), stride[d] = a.span.stride(d);
  }
  layout_array view() const {
    const auto look = [](const void* x) { return look_of(*static_cast<const array_argument<T, Rank>*>(x)); };
    return {{extent.data(), Rank},
            {stride.data(), Rank},
            reinterpret_cast<const std::byte*>(of.span.data()),
            sizeof(T),
            look,
            &of};
  }
  const array_argument<T, Rank>& of;
  std::array<std::size_t, max_rank> extent{};
  std::array<std::ptrdiff_t, max_rank> stride{};
};
template <class... Shape>
element_layout layout_of_shapes(source_line at, std::size_t outputs, const Shape&... shapes) {
  const layout_array all[] = {shapes.view()...};
  return layout_of(all, outputs, at);
}

// The types of the elements of the arguments Begin + K.
template <std::size_t Begin, class Arguments, std::size_t... K>
auto element_types_of(std::index_sequence<K...>)
    -> types_of_elements<element_of_argument<std::tuple_element_t<Begin + K, Arguments>>...>;

// Sets the mode of an output to inout if an input reads bytes of it.
template <class O, class... A>
void mark_read_output(O& output, const A&... inputs) {
  if ((false || ... || inputs.bytes.overlaps(output.bytes))) output.mode = access_mode::inout;
}

inline namespace FERRY_UNIT {

// A: array arguments, the outputs first. data: the first element of each.
template <class F, class... Y, std::size_t... O, class... X, std::size_t... I, class... P>
void transform_spans(const element_layout& l, const F& f, element_types<std::index_sequence<O...>, Y...>,
                     element_types<std::index_sequence<I...>, X...>, const P&... spans) {
  const auto all = std::tie(spans...);
  transform_on_cpu(l, f, std::tuple<Y*...>(std::get<O>(all).data()...),
                   std::tuple<const X*...>(std::get<sizeof...(Y) + I>(all).data()...));
}

template <std::size_t Outputs, class F, class... A>
void launch_elements([[maybe_unused]] stream_ref s, ordered_launch& enqueue, const element_layout& l, const F& f,
                     const A&... a) {
  using arguments = std::tuple<A...>;
  using outputs = decltype(element_types_of<0, arguments>(std::make_index_sequence<Outputs>()));
  using inputs = decltype(element_types_of<Outputs, arguments>(std::make_index_sequence<sizeof...(A) - Outputs>()));
#if FERRY_HAS_CUDA
  if (runtime& m = runtime::current(); !m.is_simulated() || m.backend().compiles_functors()) {
    void* const data[] = {const_cast<void*>(static_cast<const void*>(a.span.data()))...};
    const transform_launch<F, outputs, inputs> launch(s, l, data);
    if (!m.is_simulated())
      return enqueue([&](native_stream n) { launch({m, n, s.timeline().device(), type_name<F>()}, f); });
  }
#endif
  constexpr std::size_t behind_all_parameters = 1024;  // no parameter of F, so that arrays arrive as mdspans
  launch_simulated<unwatched_run, F, behind_all_parameters>(
      enqueue, [l, f](const auto&... p) { transform_spans(l, f, outputs(), inputs(), p...); }, a...);
}

template <std::size_t Outputs, class F, class... A>
void transform_arrays(const stream_ref* given, source_line at, const F& f, A... a) {
  const element_layout l = layout_of_shapes(at, Outputs, argument_shape(a)...);
  if (l.count() == 0) return;
  const stream_ref s = given ? *given : default_stream(placement(a...));
  access_list<(most_arrays<A> + ... + 0)> uses;
  (add_use(uses, a), ...);
  if (needs_staging(s, uses.get())) [[unlikely]] {
    search_call(s, at, used_by::kernel, f, a...);
    staged_launch enqueue(s, uses.get());
    enqueue.poison_outputs(a...);
    return launch_elements<Outputs>(s, enqueue, l, f, enqueue.moved(a)...);
  }
  direct_launch enqueue(s, uses);
  check_call(
      s, at, used_by::kernel, [&] { enqueue.poison_outputs(a...); }, f, a...);
  launch_elements<Outputs>(s, enqueue, l, f, a...);
}

}  // namespace FERRY_UNIT

// Describes the elements of an argument for expressions.
template <class T, std::size_t Rank>
program_operand operand_of(const array_argument<T, Rank>& a) {
  const argument_shape shape(a);
  return operand_of(*a.owner, a.span.data(), {shape.extent.data(), Rank}, {shape.stride.data(), Rank},
                    scalar_type_of<std::remove_const_t<T>>(), a.owner->get(a.at).kind);
}

// Submits y = f(x...) for a FERRY_FUNCTION.
template <class F, class R, class... P, class Y, class... X>
void transform_by_expression(const stream_ref* given, source_line at, const element_function<F, R(P...)>& f, const Y& y,
                             const X&... x) {
  using element = element_of_argument<Y>;
  static_assert(sizeof...(X) == sizeof...(P),
                "transform(out(y), f, in(a), ...): the FERRY_FUNCTION f has another "
                "number of parameters than the call has inputs");
  static_assert(scalar_type_of<element>() != scalar_type::none &&
                    (... && (scalar_type_of<element_of_argument<X>>() != scalar_type::none)),
                "transform by a FERRY_FUNCTION takes the types of elements that expressions have: use a functor");
  static_assert(std::is_same_v<R, element> || (std::is_convertible_v<R, element> && !std::is_same_v<element, bool> &&
                                               !(std::is_integral_v<element> && !std::is_integral_v<R>)),
                "transform(out(y), f, ...): the result of f does not become an element of y by itself: assign "
                "cast<T>(f(a)) instead");
  expression_program inputs[] = {array_program(operand_of(x))...};
  expression_program p = call_program(f.definition(), inputs);
  assignment one{operand_of(y), &p};
  assign_programs(given, {&one, 1}, at);
}

// Why a call does not compile.
enum class transform_fault : std::uint8_t {
  none,
  no_output,
  too_many_outputs,
  no_functor,
  no_array,
  lambda,
  not_callable,
  other_parts
};

template <class F, class Outputs, class Inputs>
struct transform_check;
template <class F, class... Y, class... X>
struct transform_check<F, std::tuple<Y...>, std::tuple<X...>> {
  static constexpr transform_fault fault = [] {
    if constexpr (!(... && has_elements<X>))
      return transform_fault::no_array;
    else if constexpr (is_element_function<F>)
      return sizeof...(Y) == 1 ? transform_fault::none : transform_fault::other_parts;
    else if constexpr (fault_of_lambda<F>() != call_fault::none)
      return transform_fault::lambda;
    else if constexpr (!std::is_invocable_v<const F&, const element_of_argument<X>&...>)
      return transform_fault::not_callable;
    else if constexpr (sizeof...(Y) == 1)
      return (... && std::is_convertible_v<std::invoke_result_t<const F&, const element_of_argument<X>&...>,
                                           element_of_argument<Y>>)
                 ? transform_fault::none
                 : transform_fault::other_parts;
    else
      return std::is_class_v<std::remove_cvref_t<std::invoke_result_t<const F&, const element_of_argument<X>&...>>>
                 ? transform_fault::none
                 : transform_fault::other_parts;
  }();
};

template <transform_fault Fault>
consteval bool accept_transform() {
  using enum transform_fault;
  static_assert(Fault != no_output, "begin with the outputs: transform(out(y), f, in(a), ...)");
  static_assert(Fault != too_many_outputs, "transform writes at most 4 outputs: divide it into several calls");
  static_assert(Fault != no_functor, "pass a functor behind the outputs: transform(out(y), f, in(a), ...)");
  static_assert(Fault != no_array,
                "pass arrays, views or scalars behind the functor, to be read: transform(out(y), f, in(a), ...). Other "
                "values are members of the functor");
  static_assert(Fault != lambda,
                "mark the lambda FERRY_HOST_DEVICE and declare the types of its parameters, none as auto: "
                "[=] FERRY_HOST_DEVICE (float a) { ... }. nvcc compiles no other lambda for devices");
  static_assert(Fault != not_callable,
                "declare a parameter of the functor for each input, of the type of its elements, by value or const "
                "reference, and its call operator const: transform(out(y), f, in(a), ...) calls f with values");
  static_assert(Fault != other_parts,
                "return the element of the output from the functor; of several outputs, a struct of one member for "
                "each. A FERRY_FUNCTION has one output");
  return Fault == none;
}

template <std::size_t... O, std::size_t... I, class A>
void call_transform(const stream_ref* s, source_line at, std::index_sequence<O...>, std::index_sequence<I...>, A& a) {
  constexpr std::size_t outputs = sizeof...(O);
  using reads = const std::byte*;
  using functor = std::remove_cvref_t<std::tuple_element_t<outputs, A>>;
  using check = transform_check<functor, std::tuple<std::remove_cvref_t<std::tuple_element_t<O, A>>...>,
                                std::tuple<decltype(as_argument<reads>(std::get<outputs + 1 + I>(a), at))...>>;
  if constexpr (accept_transform<check::fault>()) {
    const functor& f = std::get<outputs>(a);
    const auto call = [&](auto... x) {
      const auto with_outputs = [&](auto... y) {
        if constexpr (is_element_function<functor>) {
          transform_by_expression(s, at, f, y..., x...);
        } else {
          static_assert(
              nvcc_compiles_kernels<functor> || has_functor_text<functor>,
              "this source is compiled as plain C++, but ferry was built with CUDA: define the functor by "
              "FERRY_FUNCTOR, or write the function as FERRY_FUNCTION, which need no nvcc; or add the source by "
              "ferry_add_executable(), which compiles it by nvcc; or build ferry with -DFERRY_CUDA=OFF");
          (mark_read_output(y, x...), ...);
          transform_arrays<outputs>(s, at, f, y..., x...);
        }
      };
      with_outputs(as_argument(std::get<O>(a), at)...);
    };
    call(as_argument<reads>(std::get<outputs + 1 + I>(a), at)...);
  }
}

template <class... A>
void start_transform(const stream_ref* s, source_line at, A&&... arguments) {
  constexpr std::size_t outputs = leading_outputs<A...>();
  constexpr transform_fault fault = outputs == 0              ? transform_fault::no_output
                                    : outputs > most_outputs  ? transform_fault::too_many_outputs
                                    : outputs == sizeof...(A) ? transform_fault::no_functor
                                                              : transform_fault::none;
  if constexpr (accept_transform<fault>()) {
    std::tuple<A&&...> all(std::forward<A>(arguments)...);
    call_transform(s, at, std::make_index_sequence<outputs>(), std::make_index_sequence<sizeof...(A) - outputs - 1>(),
                   all);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
