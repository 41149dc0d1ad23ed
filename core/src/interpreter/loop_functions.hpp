// The functions of <cmath> for real numbers, in loops over blocks. Included by loops_of.hpp only; no include guard.
//
// They are built-in functions of the compiler. Templates of the library must not be instantiated here, because the
// linker might use their code, which was compiled for AVX2, in the whole program.
#include <cmath>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

#define FERRY_FUNCTION_1(name)                                         \
  static inline float name(float a) { return __builtin_##name##f(a); } \
  static inline double name(double a) { return __builtin_##name(a); }
#define FERRY_FUNCTION_2(name)                                                     \
  static inline float name(float a, float b) { return __builtin_##name##f(a, b); } \
  static inline double name(double a, double b) { return __builtin_##name(a, b); }
#define FERRY_FUNCTION_3(name)                                                                 \
  static inline float name(float a, float b, float c) { return __builtin_##name##f(a, b, c); } \
  static inline double name(double a, double b, double c) { return __builtin_##name(a, b, c); }
FERRY_FUNCTION_1(sqrt)
FERRY_FUNCTION_1(floor)
FERRY_FUNCTION_1(ceil)
FERRY_FUNCTION_1(trunc)
FERRY_FUNCTION_1(round)
FERRY_FUNCTION_1(rint)
FERRY_FUNCTION_2(copysign)
FERRY_FUNCTION_3(fma)
static inline float abs(float a) { return __builtin_fabsf(a); }
static inline double abs(double a) { return __builtin_fabs(a); }
static inline bool signbit(float a) { return __builtin_signbitf(a) != 0; }
static inline bool signbit(double a) { return __builtin_signbit(a) != 0; }
template <real_value T>
static inline T rsqrt(T a) {
  return T(1) / sqrt(a);
}

#ifdef FERRY_LOOPS_ALL
FERRY_FUNCTION_1(cbrt)
FERRY_FUNCTION_1(exp)
FERRY_FUNCTION_1(exp2)
FERRY_FUNCTION_1(expm1)
FERRY_FUNCTION_1(log)
FERRY_FUNCTION_1(log2)
FERRY_FUNCTION_1(log10)
FERRY_FUNCTION_1(log1p)
FERRY_FUNCTION_1(sin)
FERRY_FUNCTION_1(cos)
FERRY_FUNCTION_1(tan)
FERRY_FUNCTION_1(asin)
FERRY_FUNCTION_1(acos)
FERRY_FUNCTION_1(atan)
FERRY_FUNCTION_1(sinh)
FERRY_FUNCTION_1(cosh)
FERRY_FUNCTION_1(tanh)
FERRY_FUNCTION_1(asinh)
FERRY_FUNCTION_1(acosh)
FERRY_FUNCTION_1(atanh)
FERRY_FUNCTION_1(erf)
FERRY_FUNCTION_1(erfc)
FERRY_FUNCTION_1(tgamma)
FERRY_FUNCTION_1(logb)
FERRY_FUNCTION_2(pow)
FERRY_FUNCTION_2(fmod)
FERRY_FUNCTION_2(remainder)
FERRY_FUNCTION_2(atan2)
FERRY_FUNCTION_2(hypot)
FERRY_FUNCTION_2(nextafter)
FERRY_FUNCTION_2(fdim)
// Does not write the variable signgam, which all threads share.
static inline float lgamma(float a) {
  int sign_of_gamma = 0;
  return ::lgammaf_r(a, &sign_of_gamma);
}
static inline double lgamma(double a) {
  int sign_of_gamma = 0;
  return ::lgamma_r(a, &sign_of_gamma);
}
// sin(pi a). The reduction of a to [-1/2, 1/2] is exact.
template <real_value T>
static inline T sinpi(T a) {
  constexpr T pi = static_cast<T>(3.141592653589793238462643383279502884L);
  const T r = a - T(2) * rint(a / T(2));
  const T inner = abs(r) > T(0.5) ? copysign(T(1), r) - r : r;
  return sin(pi * inner);
}
template <real_value T>
static inline T cospi(T a) {
  constexpr T pi = static_cast<T>(3.141592653589793238462643383279502884L);
  const T r = abs(a - T(2) * rint(a / T(2)));
  return r > T(0.25) && r < T(0.75) ? sin(pi * (T(0.5) - r)) : cos(pi * r);
}
#endif
#undef FERRY_FUNCTION_1
#undef FERRY_FUNCTION_2
#undef FERRY_FUNCTION_3

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
