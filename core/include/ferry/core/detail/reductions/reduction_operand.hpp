// Converts the arguments of reductions to programs.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/reductions/reduction_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/reduction_axes.hpp"
#include "ferry/core/reduction_operations.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Arrays, views and expressions.
template <class A>
concept reducible = kind_of_operand<A>
.role >= operand_role::elements;

template <class O>
inline constexpr std::size_t axes_in = 0;
template <std::size_t N>
inline constexpr std::size_t axes_in<axes<N>> = N;
template <class O>
inline constexpr bool is_axes = false;
template <std::size_t N>
inline constexpr bool is_axes<axes<N>> = true;
template <class O>
concept reduction_option = is_axes<O> || std::same_as<O, keep_dims_t> || std::same_as<O, ddof>;

// The rank of the result, for elements of this rank.
template <std::size_t Rank, class... O>
constexpr std::size_t reduced_rank() {
  constexpr std::size_t named = (0 + ... + axes_in<O>);
  static_assert((0 + ... + (is_axes<O> ? 1 : 0)) <= 1, "a reduction takes one list of axes: axes{0, 2}");
  static_assert(named <= Rank, "more axes are named than the elements have");
  if constexpr ((... || std::same_as<O, keep_dims_t>))
    return Rank;
  else if constexpr ((... || is_axes<O>))
    return Rank - named;
  else
    return 0;
}

// Why a reduction does not compile.
template <reduction_function F, scalar_type Type>
constexpr void need_reduction() {
  constexpr bool needs_bool =
      F == reduction_function::any || F == reduction_function::all || F == reduction_function::count;
  static_assert(!needs_bool || Type == scalar_type::boolean,
                "any(e), all(e) and count(e) take elements of type bool: compare, as in count(e != 0)");
  static_assert(needs_bool || reduced_as(F, Type) != scalar_type::none,
                "complex numbers have no order: reduce real(e), imag(e) or abs(e)");
}

template <reduction_function F, class A, class... O>
reduction_program make_reduction(A&& a, const O&... options) {
  constexpr operand_kind kind = kind_of_operand<A>;
  axis_list list;
  list.are_all = !(... || is_axes<O>);
  double freedom = 0;
  [[maybe_unused]] const auto take = [&](const auto& o) {
    using option = std::remove_cvref_t<decltype(o)>;
    if constexpr (is_axes<option>)
      list.axes = o.span();
    else if constexpr (std::same_as<option, ddof>)
      freedom = o.value;
    else
      list.are_kept = true;
  };
  (take(options), ...);
  return reduce_program(F, program_of(std::forward<A>(a)), kind.type, list, freedom);
}

template <class Op>
constexpr reduction_operation operation_of_scan() {
  constexpr bool is_known =
      std::same_as<Op, plus> || std::same_as<Op, multiplies> || std::same_as<Op, minimum> || std::same_as<Op, maximum>;
  static_assert(is_known, "scans take the operations plus, multiplies, minimum and maximum");
  return std::same_as<Op, plus>         ? reduction_operation::sum
         : std::same_as<Op, multiplies> ? reduction_operation::product
         : std::same_as<Op, minimum>    ? reduction_operation::minimum
                                        : reduction_operation::maximum;
}
// The type of the results of a scan: that of the reduction by the same operation.
template <class Op>
constexpr scalar_type scanned_as(scalar_type t) {
  return reduced_as(
      std::same_as<Op, plus> || std::same_as<Op, multiplies> ? reduction_function::sum : reduction_function::min, t);
}
// Returns the neutral value of an operation on type T.
template <class Op, class T>
T identity_of_scan() {
  (void)operation_of_scan<Op>();
  if constexpr (std::is_arithmetic_v<T> || is_complex(scalar_type_of<T>()))
    return Op::template identity<T>();
  else
    return T(Op::template identity<float>());  // half and bfloat16 are compared as float
}

struct histogram_of {
  std::size_t bins;
  double low, high;
  reduction_program operator()(const expression_program& p, const expression_program* weights) const {
    return histogram_program(p, bins, low, high, weights);
  }
};
struct bincount_of {
  std::size_t bins;
  reduction_program operator()(const expression_program& p, const expression_program* weights) const {
    return count_program(p, bins, weights);
  }
};
template <class A>
constexpr void need_real() {
  need_element_type<A>();
  static_assert(!is_complex(kind_of_operand<A>.type), "complex numbers have no order: use real(e), imag(e) or abs(e)");
}
template <class A>
constexpr void need_whole() {
  need_element_type<A>();
  static_assert(is_integer(kind_of_operand<A>.type) || kind_of_operand<A>.type == scalar_type::boolean,
                "bincount(e, bins) takes integers: convert by ferry::cast<int>(e), or use ferry::histogram");
}

// Returns the histogram whose program make(program, weights) returns. weights: none or one.
template <class T, class Make, class A, class... W>
auto count_elements(Make make, A&& a, const W&... weights) {
  expression_program elements = program_of(std::forward<A>(a));
  if constexpr (sizeof...(W) == 0) {
    reduction_program counts = make(elements, nullptr);
    if constexpr (are_spread<A>)
      return sharded_reduced<T, 1>(std::move(counts), std::move(elements), a);
    else
      return reduced<T, 1>(std::move(counts));
  } else {
    const expression_program w = (..., program_of(weights));
    reduction_program counts = make(elements, &w);
    if constexpr (are_spread<A, W...>) {
      const std::uint8_t root = elements.root;
      elements.append(w), elements.root = root;
      return sharded_reduced<T, 1>(std::move(counts), std::move(elements), a, weights...);
    } else {
      return reduced<T, 1>(std::move(counts));
    }
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
