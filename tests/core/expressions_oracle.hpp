// Expressions as trees of nodes, evaluated element by element: what random programs are compared with. Shares no code
// with the interpreter, except for the table's names, types and operand counts.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/core/detail/operations/promotion.hpp"

namespace expressions_oracle {

using ferry::detail::operation;
using ferry::detail::scalar_type;
__extension__ typedef __int128 wide_integer;
__extension__ typedef unsigned __int128 wide_word;

// One value. Integers and bool are in `whole`, as bits for uint64; others in the two parts. Floats are exact in double.
struct scalar_value {
  scalar_type type = scalar_type::none;
  std::int64_t whole = 0;
  double re = 0, im = 0;
};

inline bool is_whole(scalar_type t) { return t <= scalar_type::uint64; }
inline bool is_single(scalar_type t) { return t != scalar_type::float64 && t != scalar_type::complex128; }

// The low bits of a whole number, with the sign of the type.
inline std::int64_t wrapped(scalar_type t, wide_integer x) {
  switch (t) {
    case scalar_type::boolean: return x != 0;
    case scalar_type::int8: return static_cast<std::int8_t>(x);
    case scalar_type::uint8: return static_cast<std::uint8_t>(x);
    case scalar_type::int16: return static_cast<std::int16_t>(x);
    case scalar_type::uint16: return static_cast<std::uint16_t>(x);
    case scalar_type::int32: return static_cast<std::int32_t>(x);
    case scalar_type::uint32: return static_cast<std::uint32_t>(x);
    default: return static_cast<std::int64_t>(x);
  }
}
// The number that the bits mean.
inline wide_integer wide(const scalar_value& v) {
  return v.type == scalar_type::uint64 ? wide_integer(static_cast<std::uint64_t>(v.whole)) : wide_integer(v.whole);
}
inline scalar_value of_whole(scalar_type t, wide_integer x) { return {t, wrapped(t, x)}; }

// Nearest multiple of a power of two, ties to even; the format has `digits` digits and exponents from `least`.
inline double rounded_to(double x, int digits, int least, double most) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int step = std::max(std::ilogb(x), least) - digits + 1;
  const double r = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  return std::fabs(r) > most ? std::copysign(std::numeric_limits<double>::infinity(), x) : r;
}
inline double as_half(double x) { return rounded_to(x, 11, -14, 65504); }
inline double as_bfloat16(double x) { return rounded_to(x, 8, -126, 0x1.fep127); }

// Converts as static_cast does; floating point numbers beyond an integer's range to the nearest one, NaN to 0.
inline scalar_value converted(const scalar_value& v, scalar_type to) {
  if (v.type == to) return v;
  if (is_whole(to)) {
    if (is_whole(v.type)) return of_whole(to, wide(v));
    if (to == scalar_type::boolean) return {to, v.re != 0};
    if (std::isnan(v.re)) return {to};
    const int bits = static_cast<int>(8 * ferry::detail::size_of(to));
    const bool has_sign = ferry::detail::is_signed(to);
    const wide_integer low = has_sign ? -(wide_integer(1) << (bits - 1)) : 0;
    const wide_integer high = (wide_integer(1) << (has_sign ? bits - 1 : bits)) - 1;
    const double whole = std::trunc(v.re);
    return {to, whole < double(low)          ? wrapped(to, low)
                : whole >= double(high) + 1. ? wrapped(to, high)
                                             : wrapped(to, wide_integer(whole))};
  }
  scalar_value r{to};
  if (is_whole(v.type))  // a cast of the integer itself: not by way of double, which would round twice
    r.re = v.type == scalar_type::uint64
               ? (is_single(to) ? double(float(std::uint64_t(v.whole))) : double(std::uint64_t(v.whole)))
               : (is_single(to) ? double(float(v.whole)) : double(v.whole));
  else
    r.re = is_single(to) ? float(v.re) : v.re, r.im = is_single(to) ? float(v.im) : v.im;
  return r;
}

inline bool bit(bool b) { return b; }

inline scalar_value whole_result(operation o, scalar_type t, const scalar_value& x, const scalar_value& y,
                                 const scalar_value& z) {
  const wide_integer a = wide(x), b = wide(y), c = wide(z);
  const int bits = static_cast<int>(8 * ferry::detail::size_of(t));
  const bool has_sign = ferry::detail::is_signed(t);
  const auto truth = [](bool v) { return scalar_value{scalar_type::boolean, v}; };
  const auto count = [&] { return static_cast<std::uint64_t>(b) & (bits == 64 ? ~0ull : (1ull << bits) - 1); };
  switch (o) {
    case operation::add: return of_whole(t, a + b);
    case operation::subtract: return of_whole(t, a - b);
    case operation::multiply: return of_whole(t, wide_integer(static_cast<wide_word>(a) * static_cast<wide_word>(b)));
    case operation::divide: return of_whole(t, b == 0 ? 0 : a / b);
    case operation::modulo: return of_whole(t, b == 0 ? 0 : a % b);
    case operation::negate: return of_whole(t, -a);
    case operation::equal: return truth(a == b);
    case operation::not_equal: return truth(a != b);
    case operation::less: return truth(a < b);
    case operation::less_equal: return truth(a <= b);
    case operation::greater: return truth(a > b);
    case operation::greater_equal: return truth(a >= b);
    case operation::logical_and: return truth(a != 0 && b != 0);
    case operation::logical_or: return truth(a != 0 || b != 0);
    case operation::logical_not: return truth(a == 0);
    case operation::bit_and: return of_whole(t, a & b);
    case operation::bit_or: return of_whole(t, a | b);
    case operation::bit_xor: return of_whole(t, a ^ b);
    case operation::bit_not: return of_whole(t, ~a);
    case operation::shift_left: return of_whole(t, count() < std::uint64_t(bits) ? a << count() : 0);
    case operation::shift_right:
      return of_whole(t, count() < std::uint64_t(bits) ? a >> count() : has_sign && a < 0 ? -1 : 0);
    case operation::min: return a < b ? x : y;
    case operation::max: return a > b ? x : y;
    case operation::clamp: return a < b ? y : a > c ? z : x;
    case operation::abs: return of_whole(t, a < 0 ? -a : a);
    case operation::sign: return of_whole(t, (a > 0) - (a < 0));
    default: throw std::logic_error("no integer operation: " + std::string(ferry::detail::info_of(o).name));
  }
}

template <class T>
scalar_value real_result(operation o, scalar_type t, const scalar_value& x, const scalar_value& y,
                         const scalar_value& z) {
  const T a = T(x.re), b = T(y.re), c = T(z.re);
  const auto real = [&](T v) { return scalar_value{t, 0, double(v), 0}; };
  const auto truth = [](bool v) { return scalar_value{scalar_type::boolean, v}; };
  const scalar_type z_type = ferry::detail::complex_of(t);
  int sign_of_gamma;
  switch (o) {
    case operation::add: return real(a + b);
    case operation::subtract: return real(a - b);
    case operation::multiply: return real(a * b);
    case operation::divide: return real(a / b);
    case operation::negate: return real(-a);
    case operation::equal: return truth(a == b);
    case operation::not_equal: return truth(!(a == b));
    case operation::less: return truth(a < b);
    case operation::less_equal: return truth(a <= b);
    case operation::greater: return truth(a > b);
    case operation::greater_equal: return truth(a >= b);
    case operation::min: return std::isnan(a) ? x : std::isnan(b) ? y : a <= b ? x : y;
    case operation::max: return std::isnan(a) ? x : std::isnan(b) ? y : a >= b ? x : y;
    case operation::clamp: return a < b ? y : a > c ? z : x;
    case operation::abs: return real(std::fabs(a));
    case operation::sign: return a > 0 ? real(1) : a < 0 ? real(-1) : x;
    case operation::sqrt: return real(std::sqrt(a));
    case operation::rsqrt: return real(1 / std::sqrt(a));
    case operation::cbrt: return real(std::cbrt(a));
    case operation::exp: return real(std::exp(a));
    case operation::exp2: return real(std::exp2(a));
    case operation::expm1: return real(std::expm1(a));
    case operation::log: return real(std::log(a));
    case operation::log2: return real(std::log2(a));
    case operation::log10: return real(std::log10(a));
    case operation::log1p: return real(std::log1p(a));
    case operation::sin: return real(std::sin(a));
    case operation::cos: return real(std::cos(a));
    case operation::tan: return real(std::tan(a));
    case operation::asin: return real(std::asin(a));
    case operation::acos: return real(std::acos(a));
    case operation::atan: return real(std::atan(a));
    case operation::sinh: return real(std::sinh(a));
    case operation::cosh: return real(std::cosh(a));
    case operation::tanh: return real(std::tanh(a));
    case operation::asinh: return real(std::asinh(a));
    case operation::acosh: return real(std::acosh(a));
    case operation::atanh: return real(std::atanh(a));
    case operation::erf: return real(std::erf(a));
    case operation::erfc: return real(std::erfc(a));
    case operation::lgamma:
      return real(std::is_same_v<T, float> ? T(::lgammaf_r(float(a), &sign_of_gamma))
                                           : T(::lgamma_r(double(a), &sign_of_gamma)));
    case operation::tgamma: return real(std::tgamma(a));
    case operation::floor: return real(std::floor(a));
    case operation::ceil: return real(std::ceil(a));
    case operation::trunc: return real(std::trunc(a));
    case operation::round: return real(std::round(a));
    case operation::rint: return real(std::rint(a));
    case operation::logb: return real(std::logb(a));
    case operation::isnan: return truth(std::isnan(a));
    case operation::isinf: return truth(std::isinf(a));
    case operation::isfinite: return truth(std::isfinite(a));
    case operation::signbit: return truth(std::signbit(a));
    case operation::pow: return real(std::pow(a, b));
    case operation::fmod: return real(std::fmod(a, b));
    case operation::remainder: return real(std::remainder(a, b));
    case operation::atan2: return real(std::atan2(a, b));
    case operation::hypot: return real(std::hypot(a, b));
    case operation::copysign: return real(std::copysign(a, b));
    case operation::nextafter: return real(std::nextafter(a, b));
    case operation::fdim: return real(std::fdim(a, b));
    case operation::fmin: return std::isnan(b) ? x : a < b ? x : y;
    case operation::fmax: return std::isnan(b) ? x : a > b ? x : y;
    case operation::fma: return real(std::fma(a, b, c));
    case operation::lerp: return real(T(a + T(c * T(b - a))));
    case operation::hypot3: return real(std::hypot(std::hypot(a, b), c));
    case operation::complex: return {z_type, 0, double(a), double(b)};
    case operation::polar: return {z_type, 0, double(T(a * std::cos(b))), double(T(a * std::sin(b)))};
    default: throw std::logic_error("no real operation: " + std::string(ferry::detail::info_of(o).name));
  }
}

template <class T>
scalar_value complex_result(operation o, scalar_type t, const scalar_value& x, const scalar_value& y) {
  using z = std::complex<T>;
  const z a(T(x.re), T(x.im)), b(T(y.re), T(y.im));
  const auto both = [&](T re, T im) { return scalar_value{t, 0, double(re), double(im)}; };
  const auto number = [&](z v) { return both(v.real(), v.imag()); };
  const auto real = [&](T v) { return scalar_value{ferry::detail::real_of(t), 0, double(v), 0}; };
  switch (o) {
    case operation::add: return both(a.real() + b.real(), a.imag() + b.imag());
    case operation::subtract: return both(a.real() - b.real(), a.imag() - b.imag());
    case operation::multiply: {
      const T ac = a.real() * b.real(), bd = a.imag() * b.imag(), ad = a.real() * b.imag(), bc = a.imag() * b.real();
      return both(ac - bd, ad + bc);
    }
    case operation::divide: {
      const T s = 1 / (std::fabs(b.real()) + std::fabs(b.imag()));
      const T ar = a.real() * s, ai = a.imag() * s, br = b.real() * s, bi = b.imag() * s;
      const T rr = br * br, ii = bi * bi, over = 1 / (rr + ii);
      const T p = ar * br, q = ai * bi, u = ai * br, v = ar * bi;
      return both((p + q) * over, (u - v) * over);
    }
    case operation::negate: return both(-a.real(), -a.imag());
    case operation::equal: return {scalar_type::boolean, a.real() == b.real() && a.imag() == b.imag()};
    case operation::not_equal: return {scalar_type::boolean, !(a.real() == b.real() && a.imag() == b.imag())};
    case operation::conj: return both(a.real(), -a.imag());
    case operation::real: return real(a.real());
    case operation::imag: return real(a.imag());
    case operation::magnitude: return real(std::hypot(a.real(), a.imag()));
    case operation::arg: return real(std::atan2(a.imag(), a.real()));
    case operation::norm: {
      const T rr = a.real() * a.real(), ii = a.imag() * a.imag();
      return real(rr + ii);
    }
    case operation::sqrt: return number(std::sqrt(a));
    case operation::exp: return number(std::exp(a));
    case operation::log: return number(std::log(a));
    case operation::sin: return number(std::sin(a));
    case operation::cos: return number(std::cos(a));
    case operation::tan: return number(std::tan(a));
    case operation::asin: return number(std::asin(a));
    case operation::acos: return number(std::acos(a));
    case operation::atan: return number(std::atan(a));
    case operation::sinh: return number(std::sinh(a));
    case operation::cosh: return number(std::cosh(a));
    case operation::tanh: return number(std::tanh(a));
    case operation::asinh: return number(std::asinh(a));
    case operation::acosh: return number(std::acosh(a));
    case operation::atanh: return number(std::atanh(a));
    case operation::pow: return number(std::pow(a, b));
    default: throw std::logic_error("no complex operation: " + std::string(ferry::detail::info_of(o).name));
  }
}

// The result for operands of one type of registers (of select: b and c).
inline scalar_value computed(operation o, scalar_type t, const scalar_value& a, const scalar_value& b,
                             const scalar_value& c) {
  if (o == operation::select) return a.whole ? b : c;
  if (is_whole(t)) return whole_result(o, t, a, b, c);
  if (t == scalar_type::float32) return real_result<float>(o, t, a, b, c);
  if (t == scalar_type::float64) return real_result<double>(o, t, a, b, c);
  return t == scalar_type::complex64 ? complex_result<float>(o, t, a, b) : complex_result<double>(o, t, a, b);
}

// An element in memory, as the type that computes with it.
inline scalar_value loaded(scalar_type t, const unsigned char* from) {
  scalar_value v{ferry::detail::computed_as(t)};
  const auto number = [&](auto x) {
    std::memcpy(&x, from, sizeof x);
    return x;
  };
  switch (t) {
    case scalar_type::boolean: v.whole = *from != 0; break;
    case scalar_type::int8: v.whole = number(std::int8_t{}); break;
    case scalar_type::uint8: v.whole = number(std::uint8_t{}); break;
    case scalar_type::int16: v.whole = number(std::int16_t{}); break;
    case scalar_type::uint16: v.whole = number(std::uint16_t{}); break;
    case scalar_type::int32: v.whole = number(std::int32_t{}); break;
    case scalar_type::uint32: v.whole = number(std::uint32_t{}); break;
    case scalar_type::int64:
    case scalar_type::uint64: v.whole = number(std::int64_t{}); break;
    case scalar_type::half: {
      const std::uint16_t bits = number(std::uint16_t{});
      const int exponent = bits >> 10 & 31, digits = bits & 1023;
      const double size =
          exponent == 31 ? (digits ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
          : exponent == 0 ? std::ldexp(digits, -24)
                          : std::ldexp(1024 + digits, exponent - 25);
      v.re = bits >> 15 ? -size : size;
      break;
    }
    case scalar_type::bfloat16: {
      const std::uint32_t bits = std::uint32_t(number(std::uint16_t{})) << 16;
      float f;
      std::memcpy(&f, &bits, sizeof f);
      v.re = f;
      break;
    }
    case scalar_type::float32: v.re = number(float{}); break;
    case scalar_type::float64: v.re = number(double{}); break;
    case scalar_type::complex64: v.re = number(float{}), from += 4, v.im = number(float{}); break;
    case scalar_type::complex128: v.re = number(double{}), from += 8, v.im = number(double{}); break;
    case scalar_type::none: break;
  }
  return v;
}

// True if memory of type t holds the value: equal bits, or NaN for NaN.
inline bool holds(scalar_type t, const unsigned char* at, const scalar_value& v) {
  const scalar_value got = loaded(t, at);
  if (is_whole(t)) return got.whole == v.whole;
  const auto same = [](double x, double y) {
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  };
  if (t == scalar_type::half) return same(got.re, as_half(v.re));
  if (t == scalar_type::bfloat16) return same(got.re, as_bfloat16(v.re));
  return same(got.re, v.re) && same(got.im, v.im);
}

inline std::string text(const scalar_value& v) {
  return is_whole(v.type) ? std::to_string(v.whole) : std::to_string(v.re) + " + " + std::to_string(v.im) + "i";
}

}  // namespace expressions_oracle
