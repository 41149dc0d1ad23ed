/// @file
/// Mathematical functions of array expressions, element by element. Integers are computed as double, as by `<cmath>`,
/// except by abs, sign, min, max and clamp.
#pragma once
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// -1, 0 or 1; a zero and NaN are returned as they are.
template <class A>
requires detail::expression_operands<A>
auto sign(A&& a) { return detail::unary<detail::operation::sign>(std::forward<A>(a)); }
/// Square root.
template <class A>
requires detail::expression_operands<A>
auto sqrt(A&& a) { return detail::unary<detail::operation::sqrt>(std::forward<A>(a)); }
/// 1 / sqrt(a).
template <class A>
requires detail::expression_operands<A>
auto rsqrt(A&& a) { return detail::unary<detail::operation::rsqrt>(std::forward<A>(a)); }
/// Cube root.
template <class A>
requires detail::expression_operands<A>
auto cbrt(A&& a) { return detail::unary<detail::operation::cbrt>(std::forward<A>(a)); }
/// Exponential.
template <class A>
requires detail::expression_operands<A>
auto exp(A&& a) { return detail::unary<detail::operation::exp>(std::forward<A>(a)); }
/// 2 to the power of a.
template <class A>
requires detail::expression_operands<A>
auto exp2(A&& a) { return detail::unary<detail::operation::exp2>(std::forward<A>(a)); }
/// exp(a) - 1, exact near 0.
template <class A>
requires detail::expression_operands<A>
auto expm1(A&& a) { return detail::unary<detail::operation::expm1>(std::forward<A>(a)); }
/// Natural logarithm.
template <class A>
requires detail::expression_operands<A>
auto log(A&& a) { return detail::unary<detail::operation::log>(std::forward<A>(a)); }
/// Logarithm to base 2.
template <class A>
requires detail::expression_operands<A>
auto log2(A&& a) { return detail::unary<detail::operation::log2>(std::forward<A>(a)); }
/// Logarithm to base 10.
template <class A>
requires detail::expression_operands<A>
auto log10(A&& a) { return detail::unary<detail::operation::log10>(std::forward<A>(a)); }
/// log(1 + a), exact near 0.
template <class A>
requires detail::expression_operands<A>
auto log1p(A&& a) { return detail::unary<detail::operation::log1p>(std::forward<A>(a)); }
/// Sine.
template <class A>
requires detail::expression_operands<A>
auto sin(A&& a) { return detail::unary<detail::operation::sin>(std::forward<A>(a)); }
/// Cosine.
template <class A>
requires detail::expression_operands<A>
auto cos(A&& a) { return detail::unary<detail::operation::cos>(std::forward<A>(a)); }
/// Tangent.
template <class A>
requires detail::expression_operands<A>
auto tan(A&& a) { return detail::unary<detail::operation::tan>(std::forward<A>(a)); }
/// Arc sine.
template <class A>
requires detail::expression_operands<A>
auto asin(A&& a) { return detail::unary<detail::operation::asin>(std::forward<A>(a)); }
/// Arc cosine.
template <class A>
requires detail::expression_operands<A>
auto acos(A&& a) { return detail::unary<detail::operation::acos>(std::forward<A>(a)); }
/// Arc tangent.
template <class A>
requires detail::expression_operands<A>
auto atan(A&& a) { return detail::unary<detail::operation::atan>(std::forward<A>(a)); }
/// Hyperbolic sine.
template <class A>
requires detail::expression_operands<A>
auto sinh(A&& a) { return detail::unary<detail::operation::sinh>(std::forward<A>(a)); }
/// Hyperbolic cosine.
template <class A>
requires detail::expression_operands<A>
auto cosh(A&& a) { return detail::unary<detail::operation::cosh>(std::forward<A>(a)); }
/// Hyperbolic tangent.
template <class A>
requires detail::expression_operands<A>
auto tanh(A&& a) { return detail::unary<detail::operation::tanh>(std::forward<A>(a)); }
/// Inverse hyperbolic sine.
template <class A>
requires detail::expression_operands<A>
auto asinh(A&& a) { return detail::unary<detail::operation::asinh>(std::forward<A>(a)); }
/// Inverse hyperbolic cosine.
template <class A>
requires detail::expression_operands<A>
auto acosh(A&& a) { return detail::unary<detail::operation::acosh>(std::forward<A>(a)); }
/// Inverse hyperbolic tangent.
template <class A>
requires detail::expression_operands<A>
auto atanh(A&& a) { return detail::unary<detail::operation::atanh>(std::forward<A>(a)); }
/// sin(pi a), exact at integers.
template <class A>
requires detail::expression_operands<A>
auto sinpi(A&& a) { return detail::unary<detail::operation::sinpi>(std::forward<A>(a)); }
/// cos(pi a), exact at half integers.
template <class A>
requires detail::expression_operands<A>
auto cospi(A&& a) { return detail::unary<detail::operation::cospi>(std::forward<A>(a)); }
/// Error function.
template <class A>
requires detail::expression_operands<A>
auto erf(A&& a) { return detail::unary<detail::operation::erf>(std::forward<A>(a)); }
/// 1 - erf(a).
template <class A>
requires detail::expression_operands<A>
auto erfc(A&& a) { return detail::unary<detail::operation::erfc>(std::forward<A>(a)); }
/// Logarithm of |gamma(a)|.
template <class A>
requires detail::expression_operands<A>
auto lgamma(A&& a) { return detail::unary<detail::operation::lgamma>(std::forward<A>(a)); }
/// Gamma function.
template <class A>
requires detail::expression_operands<A>
auto tgamma(A&& a) { return detail::unary<detail::operation::tgamma>(std::forward<A>(a)); }
/// Rounds down.
template <class A>
requires detail::expression_operands<A>
auto floor(A&& a) { return detail::unary<detail::operation::floor>(std::forward<A>(a)); }
/// Rounds up.
template <class A>
requires detail::expression_operands<A>
auto ceil(A&& a) { return detail::unary<detail::operation::ceil>(std::forward<A>(a)); }
/// Rounds to zero.
template <class A>
requires detail::expression_operands<A>
auto trunc(A&& a) { return detail::unary<detail::operation::trunc>(std::forward<A>(a)); }
/// Rounds to the nearest integer, halves away from zero.
template <class A>
requires detail::expression_operands<A>
auto round(A&& a) { return detail::unary<detail::operation::round>(std::forward<A>(a)); }
/// Rounds to the nearest integer, halves to even.
template <class A>
requires detail::expression_operands<A>
auto rint(A&& a) { return detail::unary<detail::operation::rint>(std::forward<A>(a)); }
/// Exponent of the number.
template <class A>
requires detail::expression_operands<A>
auto logb(A&& a) { return detail::unary<detail::operation::logb>(std::forward<A>(a)); }
/// True for NaN.
template <class A>
requires detail::expression_operands<A>
auto isnan(A&& a) { return detail::unary<detail::operation::isnan>(std::forward<A>(a)); }
/// True for infinities.
template <class A>
requires detail::expression_operands<A>
auto isinf(A&& a) { return detail::unary<detail::operation::isinf>(std::forward<A>(a)); }
/// False for NaN and infinities.
template <class A>
requires detail::expression_operands<A>
auto isfinite(A&& a) { return detail::unary<detail::operation::isfinite>(std::forward<A>(a)); }
/// True for negative numbers, also -0.
template <class A>
requires detail::expression_operands<A>
auto signbit(A&& a) { return detail::unary<detail::operation::signbit>(std::forward<A>(a)); }
/// The smaller element; NaN if one is NaN (fmin ignores NaN). Of scalars and numbers, as max(s, 1.0): an expression of
/// rank 0, which becomes a scalar without waiting, and a number with.
template <class A, class B>
requires detail::ordered_operands<A, B>
auto min(A&& a, B&& b) { return detail::binary<detail::operation::min>(std::forward<A>(a), std::forward<B>(b)); }
/// The larger element; NaN if one is NaN (fmax ignores NaN). Also of scalars, as min().
template <class A, class B>
requires detail::ordered_operands<A, B>
auto max(A&& a, B&& b) { return detail::binary<detail::operation::max>(std::forward<A>(a), std::forward<B>(b)); }
/// The smaller element; the other one if one is NaN.
template <class A, class B>
requires detail::ordered_operands<A, B>
auto fmin(A&& a, B&& b) { return detail::binary<detail::operation::fmin>(std::forward<A>(a), std::forward<B>(b)); }
/// The larger element; the other one if one is NaN.
template <class A, class B>
requires detail::ordered_operands<A, B>
auto fmax(A&& a, B&& b) { return detail::binary<detail::operation::fmax>(std::forward<A>(a), std::forward<B>(b)); }
/// a to the power of b.
template <class A, class B>
requires detail::expression_operands<A, B>
auto pow(A&& a, B&& b) { return detail::binary<detail::operation::pow>(std::forward<A>(a), std::forward<B>(b)); }
/// Remainder of a / b with the sign of a.
template <class A, class B>
requires detail::expression_operands<A, B>
auto fmod(A&& a, B&& b) { return detail::binary<detail::operation::fmod>(std::forward<A>(a), std::forward<B>(b)); }
/// a minus the nearest multiple of b.
template <class A, class B>
requires detail::expression_operands<A, B>
auto remainder(A&& a, B&& b) {
  return detail::binary<detail::operation::remainder>(std::forward<A>(a), std::forward<B>(b));
}
/// Angle of the point (b, a).
template <class A, class B>
requires detail::expression_operands<A, B>
auto atan2(A&& a, B&& b) { return detail::binary<detail::operation::atan2>(std::forward<A>(a), std::forward<B>(b)); }
/// sqrt(a a + b b), without overflow of the squares.
template <class A, class B>
requires detail::expression_operands<A, B>
auto hypot(A&& a, B&& b) { return detail::binary<detail::operation::hypot>(std::forward<A>(a), std::forward<B>(b)); }
/// a with the sign of b.
template <class A, class B>
requires detail::expression_operands<A, B>
auto copysign(A&& a, B&& b) {
  return detail::binary<detail::operation::copysign>(std::forward<A>(a), std::forward<B>(b));
}
/// The next number from a towards b.
template <class A, class B>
requires detail::expression_operands<A, B>
auto nextafter(A&& a, B&& b) {
  return detail::binary<detail::operation::nextafter>(std::forward<A>(a), std::forward<B>(b));
}
/// a - b if that is positive, else 0; NaN if one is NaN.
template <class A, class B>
requires detail::expression_operands<A, B>
auto fdim(A&& a, B&& b) { return detail::binary<detail::operation::fdim>(std::forward<A>(a), std::forward<B>(b)); }
/// a, or the nearer of the bounds b and c if it is outside; NaN stays NaN. Also of scalars, as min().
template <class A, class B, class C>
requires detail::ordered_operands<A, B, C>
auto clamp(A&& a, B&& b, C&& c) {
  return detail::ternary<detail::operation::clamp>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
/// a b + c, rounded once.
template <class A, class B, class C>
requires detail::expression_operands<A, B, C>
auto fma(A&& a, B&& b, C&& c) {
  return detail::ternary<detail::operation::fma>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
/// a + c (b - a).
template <class A, class B, class C>
requires detail::expression_operands<A, B, C>
auto lerp(A&& a, B&& b, C&& c) {
  return detail::ternary<detail::operation::lerp>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
/// sqrt(a a + b b + c c), without overflow of the squares.
template <class A, class B, class C>
requires detail::expression_operands<A, B, C>
auto hypot(A&& a, B&& b, C&& c) {
  return detail::ternary<detail::operation::hypot3>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}

/// Absolute value; real for complex elements.
template <class A>
requires detail::expression_operands<A>
auto abs(A&& a) {
  constexpr bool is_complex = detail::is_complex(detail::kind_of_operand<A>.type);
  return detail::unary < is_complex ? detail::operation::magnitude : detail::operation::abs > (std::forward<A>(a));
}
/// Real part; real elements are returned as they are.
template <class A>
requires detail::expression_operands<A>
auto real(A&& a) {
  if constexpr (detail::is_complex(detail::kind_of_operand<A>.type))
    return detail::unary<detail::operation::real>(std::forward<A>(a));
  else
    return lazy(std::forward<A>(a));
}
/// Complex conjugate; real elements are returned as they are.
template <class A>
requires detail::expression_operands<A>
auto conj(A&& a) {
  if constexpr (detail::is_complex(detail::kind_of_operand<A>.type))
    return detail::unary<detail::operation::conj>(std::forward<A>(a));
  else
    return lazy(std::forward<A>(a));
}
/// Imaginary part of complex elements.
template <class A>
requires detail::expression_operands<A>
auto imag(A&& a) { return detail::unary<detail::operation::imag>(std::forward<A>(a)); }
/// Angle of complex elements.
template <class A>
requires detail::expression_operands<A>
auto arg(A&& a) { return detail::unary<detail::operation::arg>(std::forward<A>(a)); }
/// Square of the absolute value of complex elements.
template <class A>
requires detail::expression_operands<A>
auto abs2(A&& a) { return detail::unary<detail::operation::norm>(std::forward<A>(a)); }
/// Complex elements with these real and imaginary parts.
template <class A, class B>
requires detail::expression_operands<A, B>
auto make_complex(A&& a, B&& b) {
  return detail::binary<detail::operation::complex>(std::forward<A>(a), std::forward<B>(b));
}
/// Complex elements with these absolute values and angles.
template <class A, class B>
requires detail::expression_operands<A, B>
auto polar(A&& a, B&& b) { return detail::binary<detail::operation::polar>(std::forward<A>(a), std::forward<B>(b)); }

/// @}

}  // namespace ferry::inline FERRY_ABI
