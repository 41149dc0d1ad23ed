/// @file
/// Comparisons of whole arrays, whose results stay on the device until they are read.
#pragma once
#include <cstdint>

#include "ferry/core/detail/sorting/sorting_operand.hpp"
#include "ferry/core/math.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// For allclose(): whether NaN is close to NaN.
enum class nan_rule : std::uint8_t { differs, equals };

namespace detail {

// Numbers as expressions; integers and bool as double, so that differences do not wrap.
template <class A>
auto as_floating(A&& a) {
  constexpr operand_kind kind = kind_of_operand<A>;
  constexpr scalar_type t = is_floating(kind.type) || is_complex(kind.type) ? kind.type : scalar_type::float64;
  need_element_type<A>();
  return make_expression<t, kind.rank>(cast_program(program_of(std::forward<A>(a)), t), a);
}
template <class E>
auto is_finite(const E& e) {
  if constexpr (is_complex(scalar_type_of<typename E::value_type>()))
    return isfinite(real(e)) && isfinite(imag(e));
  else
    return isfinite(e);
}
template <class E>
auto has_nan(const E& e) {
  if constexpr (is_complex(scalar_type_of<typename E::value_type>()))
    return isnan(real(e)) || isnan(imag(e));
  else
    return isnan(e);
}

}  // namespace detail

/// True if |a - b| <= absolute + relative * |b| for all elements, as NumPy's allclose. Equal infinities are close.
/// Integers are compared as double. Shapes broadcast. True for no elements. Blocks only if a pool grows.
/// @param a array, view, expression or number; one of both is no number
/// @param b as a
/// @param relative greatest relative difference
/// @param absolute greatest difference that is added to that
/// @param nan whether NaN is close to NaN
/// @return a scalar<bool>; a team_scalar<bool>, if a or b are elements of sharded arrays
/// @throws invalid_argument if the shapes do not broadcast, or distributions of sharded arrays differ
template <class A, class B>
requires(detail::expression_operands<A, B>)  //
    auto allclose(A&& a, B&& b, double relative = 1e-5, double absolute = 1e-8, nan_rule nan = nan_rule::differs) {
  const auto x = detail::as_floating(std::forward<A>(a));
  const auto y = detail::as_floating(std::forward<B>(b));
  const auto are_close = x == y || (abs(x - y) <= absolute + relative * abs(y) && detail::is_finite(y));
  if (nan == nan_rule::differs) return evaluate(all(are_close));
  return evaluate(all(are_close || (detail::has_nan(x) && detail::has_nan(y))));
}

/// True if the shapes are equal, and all elements. Numbers and scalars are compared with each element. NaN equals
/// nothing. True for no elements. Blocks only if a pool grows.
/// @param a array, view, expression, scalar or number; one of both is an array or an expression
/// @param b as a
/// @return as allclose()
/// @throws invalid_argument if distributions of sharded arrays of one shape differ
template <class A, class B>
requires(detail::expression_operands<A, B>) auto all_equal(A&& a, B&& b) {
  using namespace detail;
  constexpr operand_kind in_a = kind_of_operand<A>, in_b = kind_of_operand<B>;
  if constexpr (in_a.has_elements() && in_b.has_elements()) {
    auto x = lazy(std::forward<A>(a));
    auto y = lazy(std::forward<B>(b));
    if constexpr (in_a.rank == in_b.rank)
      if (x.extents() == y.extents()) return evaluate(all(std::move(x) == std::move(y)));
    if constexpr (in_a.is_spread && in_b.is_spread) {  // false, also for no elements
      return evaluate(x.reads_shards() ? any(x != x && false) : any(y != y && false));
    } else if constexpr (in_a.is_spread) {
      return evaluate(any(x != x && false));
    } else if constexpr (in_b.is_spread) {
      return evaluate(any(y != y && false));
    } else {
      scalar<bool> no(home_of(x.program()));
      assign(no.as_array(), false);
      return no;
    }
  } else {
    return evaluate(all(std::forward<A>(a) == std::forward<B>(b)));
  }
}

/// @}

}  // namespace ferry::inline FERRY_ABI
