// The operations of programs: one line each. The interpreter, the source generators, the promotions and the tests
// include the list.
//
// FERRY_OPERATIONS(X) expands X(name, operands, domain, result, code) for each operation.
//   name      of the enumerator, and of the operation in texts
//   operands  1 to 3, all of one type, except for `select`, whose first operand is bool
//   domain    types of the operands after promotion: b bool; i int32, uint32, int64, uint64; f float, double; c complex
//   result    same (type of the operands), boolean, real (real type of a complex type) or complex
//   code      C++ for values a, b, c of type T: operators, functions of <cmath>, and the functions below
//
// Functions that a user of `code` provides, for T and with the same results on all evaluators:
//   divide(a, b)     integers: 0 for b == 0, and wraps for the lowest a with b == -1; floating: a / b;
//                    complex: scaled by |re b| + |im b| (see the interpreter)
//   modulo(a, b)     integers: 0 for b == 0, else a % b, and 0 for b == -1
//   shift_left(a, n), shift_right(a, n)   integers: n is taken as unsigned; from the number of bits on, the result is
//                    that of shifting bit by bit: 0, or -1 for negative a to the right
//   smaller(a, b), larger(a, b)  a != a ? a : b < a || b != b ? b : a (larger: b > a)
//   greatest(a)      the greatest finite value of T
//   sign(a)          a > 0 ? 1 : a < 0 ? -1 : a
//   rsqrt(a), sinpi(a), cospi(a); real(a), imag(a), complex(a, b), and operators and functions of complex numbers:
//                    (a + bi) (c + di) = (ac - bd) + (ad + bc)i, without special cases for infinities
// Integers wrap: `code` is compiled so that signed overflow is defined. Multiplications and additions are not
// contracted.
#pragma once
#include <cstdint>
#include <string_view>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"

// clang-format off
#define FERRY_OPERATIONS(X) \
  X(add, 2, ifc, same, a + b) \
  X(subtract, 2, ifc, same, a - b) \
  X(multiply, 2, ifc, same, a * b) \
  X(divide, 2, ifc, same, divide(a, b)) \
  X(modulo, 2, i, same, modulo(a, b)) \
  X(negate, 1, ifc, same, -a) \
  X(equal, 2, bifc, boolean, a == b) \
  X(not_equal, 2, bifc, boolean, a != b) \
  X(less, 2, bif, boolean, a < b) \
  X(less_equal, 2, bif, boolean, a <= b) \
  X(greater, 2, bif, boolean, a > b) \
  X(greater_equal, 2, bif, boolean, a >= b) \
  X(logical_and, 2, b, boolean, a & b) \
  X(logical_or, 2, b, boolean, a | b) \
  X(logical_not, 1, b, boolean, !a) \
  X(bit_and, 2, bi, same, a & b) \
  X(bit_or, 2, bi, same, a | b) \
  X(bit_xor, 2, bi, same, a ^ b) \
  X(bit_not, 1, i, same, ~a) \
  X(shift_left, 2, i, same, shift_left(a, b)) \
  X(shift_right, 2, i, same, shift_right(a, b)) \
  X(min, 2, if, same, smaller(a, b)) \
  X(max, 2, if, same, larger(a, b)) \
  X(clamp, 3, if, same, a < b ? b : c < a ? c : a) \
  X(select, 3, bifc, same, a ? b : c) \
  X(abs, 1, if, same, abs(a)) \
  X(sign, 1, if, same, sign(a)) \
  X(sqrt, 1, fc, same, sqrt(a)) \
  X(rsqrt, 1, f, same, rsqrt(a)) \
  X(cbrt, 1, f, same, cbrt(a)) \
  X(exp, 1, fc, same, exp(a)) \
  X(exp2, 1, f, same, exp2(a)) \
  X(expm1, 1, f, same, expm1(a)) \
  X(log, 1, fc, same, log(a)) \
  X(log2, 1, f, same, log2(a)) \
  X(log10, 1, f, same, log10(a)) \
  X(log1p, 1, f, same, log1p(a)) \
  X(sin, 1, fc, same, sin(a)) \
  X(cos, 1, fc, same, cos(a)) \
  X(tan, 1, fc, same, tan(a)) \
  X(asin, 1, fc, same, asin(a)) \
  X(acos, 1, fc, same, acos(a)) \
  X(atan, 1, fc, same, atan(a)) \
  X(sinh, 1, fc, same, sinh(a)) \
  X(cosh, 1, fc, same, cosh(a)) \
  X(tanh, 1, fc, same, tanh(a)) \
  X(asinh, 1, fc, same, asinh(a)) \
  X(acosh, 1, fc, same, acosh(a)) \
  X(atanh, 1, fc, same, atanh(a)) \
  X(sinpi, 1, f, same, sinpi(a)) \
  X(cospi, 1, f, same, cospi(a)) \
  X(erf, 1, f, same, erf(a)) \
  X(erfc, 1, f, same, erfc(a)) \
  X(lgamma, 1, f, same, lgamma(a)) \
  X(tgamma, 1, f, same, tgamma(a)) \
  X(floor, 1, f, same, floor(a)) \
  X(ceil, 1, f, same, ceil(a)) \
  X(trunc, 1, f, same, trunc(a)) \
  X(round, 1, f, same, round(a)) \
  X(rint, 1, f, same, rint(a)) \
  X(logb, 1, f, same, logb(a)) \
  X(isnan, 1, f, boolean, a != a) \
  X(isinf, 1, f, boolean, abs(a) > greatest(a)) \
  X(isfinite, 1, f, boolean, abs(a) <= greatest(a)) \
  X(signbit, 1, f, boolean, signbit(a)) \
  X(pow, 2, fc, same, pow(a, b)) \
  X(fmod, 2, f, same, fmod(a, b)) \
  X(remainder, 2, f, same, remainder(a, b)) \
  X(atan2, 2, f, same, atan2(a, b)) \
  X(hypot, 2, f, same, hypot(a, b)) \
  X(copysign, 2, f, same, copysign(a, b)) \
  X(nextafter, 2, f, same, nextafter(a, b)) \
  X(fdim, 2, f, same, fdim(a, b)) \
  X(fmin, 2, f, same, a < b || b != b ? a : b) \
  X(fmax, 2, f, same, a > b || b != b ? a : b) \
  X(fma, 3, f, same, fma(a, b, c)) \
  X(lerp, 3, f, same, a + c * (b - a)) \
  X(hypot3, 3, f, same, hypot(hypot(a, b), c)) \
  X(real, 1, c, real, real(a)) \
  X(imag, 1, c, real, imag(a)) \
  X(magnitude, 1, c, real, hypot(real(a), imag(a))) \
  X(arg, 1, c, real, atan2(imag(a), real(a))) \
  X(norm, 1, c, real, real(a) * real(a) + imag(a) * imag(a)) \
  X(conj, 1, c, same, complex(real(a), -imag(a))) \
  X(complex, 2, f, complex, complex(a, b)) \
  X(polar, 2, f, complex, complex(a * cos(b), a * sin(b)))
// clang-format on

namespace ferry::inline FERRY_ABI::detail {

enum class operation : std::uint8_t {
#define FERRY_OPERATION(name, operands, domain, result, code) name,
  FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION
  // The following have no line in the list.
  load,               // a: number of the operand. from: its type in memory; type: computed_as(from)
  constant,           // a: number of the constant
  index,              // int64 index of the element along axis a of the evaluation (see evaluation.hpp)
  cast,               // a: value of type `from`. To integers: rounds to zero; beyond the range the nearest integer, and
                      // 0 for NaN. To bool: a != 0. To complex: imaginary part 0. Complex to real is no cast.
  round_to_half,      // a: float or double; result: float, rounded once to a value of half
  round_to_bfloat16,  // the same for bfloat16
  call,               // of a function of the program: a is the number of the call (see function_definition.hpp)
  gather,             // a: an int64 offset in bytes, b: number of the operand, which is_gathered. The element at the
                      // operand's address for the index, plus the offset; from and type as for `load`
  bounded_offset  // a: an index, b: an extent above 0, c: a stride in bytes; all int64. Indices below 0 count from the
                  // end. Others outside are errors on simulated devices, and the nearest index on CUDA devices
};

enum class operation_result : std::uint8_t { same, boolean, real, complex };

// What the list states about an operation.
struct operation_info {
  std::string_view name;
  int operands;
  std::string_view domain;  // such as "ifc"
  operation_result result;
  std::string_view code;
};
inline constexpr operation_info operation_table[] = {
#define FERRY_OPERATION(name, operands, domain, result, code) \
  {#name, operands, #domain, operation_result::result, #code},
    FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION
};
inline constexpr int listed_operations = static_cast<int>(operation::load);

constexpr bool is_listed(operation o) { return o < operation::load; }
// Requires is_listed(o).
constexpr const operation_info& info_of(operation o) { return operation_table[static_cast<int>(o)]; }

// Type of the result for operands of type t.
constexpr scalar_type result_type(operation o, scalar_type t) {
  switch (info_of(o).result) {
    case operation_result::same: return t;
    case operation_result::boolean: return scalar_type::boolean;
    case operation_result::real: return real_of(t);
    case operation_result::complex: return complex_of(t);
  }
  return t;
}
// True if the operation is defined for operands of type t. half, bfloat16 and the integers of 8 and 16 bits are
// converted before all operations but `select`, which takes those integers.
constexpr bool is_defined(operation o, scalar_type t) {
  const char letter = t == scalar_type::boolean                                ? 'b'
                      : t >= scalar_type::int32 && t <= scalar_type::uint64    ? 'i'
                      : t == scalar_type::float32 || t == scalar_type::float64 ? 'f'
                      : is_complex(t)                                          ? 'c'
                                                                               : '-';
  if (o == operation::select && is_integer(t)) return true;
  return info_of(o).domain.find(letter) != std::string_view::npos;
}

}  // namespace ferry::inline FERRY_ABI::detail
