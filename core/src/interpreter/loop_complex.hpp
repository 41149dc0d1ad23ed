// Complex numbers, their arithmetic and their functions, in loops over blocks. Included by loops_of.hpp only; no
// include guard.
//
// Complex numbers have a type of their own, not std::complex. Otherwise the linker might use functions of std::complex
// that were compiled for AVX2 in the whole program.
#include <complex>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

template <class T>
struct complex_value {
  T re, im;
};
template <class T>
inline constexpr bool is_complex_value = false;
template <class T>
inline constexpr bool is_complex_value<complex_value<T>> = true;

template <class T>
static inline T real(complex_value<T> a) {
  return a.re;
}
template <class T>
static inline T imag(complex_value<T> a) {
  return a.im;
}
template <real_value T>
static inline complex_value<T> complex(T re, T im) {
  return {re, im};
}
template <class T>
static inline complex_value<T> operator+(complex_value<T> a, complex_value<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
static inline complex_value<T> operator-(complex_value<T> a, complex_value<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
static inline complex_value<T> operator-(complex_value<T> a) {
  return {-a.re, -a.im};
}
template <class T>
static inline complex_value<T> operator*(complex_value<T> a, complex_value<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
static inline bool operator==(complex_value<T> a, complex_value<T> b) {
  return a.re == b.re && a.im == b.im;
}
// Scales by |re b| + |im b|, so that squares neither overflow nor underflow.
template <class T>
static inline complex_value<T> divide(complex_value<T> a, complex_value<T> b) {
  const T scale = T(1) / (abs(b.re) + abs(b.im));
  const T are = a.re * scale, aim = a.im * scale, bre = b.re * scale, bim = b.im * scale;
  const T over = T(1) / (bre * bre + bim * bim);
  return {(are * bre + aim * bim) * over, (aim * bre - are * bim) * over};
}

#ifdef FERRY_LOOPS_ALL
#define FERRY_COMPLEX_FUNCTION(name)                                  \
  template <class T>                                                  \
  static inline complex_value<T> name(complex_value<T> a) {           \
    const std::complex<T> r = std::name(std::complex<T>(a.re, a.im)); \
    return {r.real(), r.imag()};                                      \
  }
FERRY_COMPLEX_FUNCTION(sqrt)
FERRY_COMPLEX_FUNCTION(exp)
FERRY_COMPLEX_FUNCTION(log)
FERRY_COMPLEX_FUNCTION(sin)
FERRY_COMPLEX_FUNCTION(cos)
FERRY_COMPLEX_FUNCTION(tan)
FERRY_COMPLEX_FUNCTION(asin)
FERRY_COMPLEX_FUNCTION(acos)
FERRY_COMPLEX_FUNCTION(atan)
FERRY_COMPLEX_FUNCTION(sinh)
FERRY_COMPLEX_FUNCTION(cosh)
FERRY_COMPLEX_FUNCTION(tanh)
FERRY_COMPLEX_FUNCTION(asinh)
FERRY_COMPLEX_FUNCTION(acosh)
FERRY_COMPLEX_FUNCTION(atanh)
#undef FERRY_COMPLEX_FUNCTION
template <class T>
static inline complex_value<T> pow(complex_value<T> a, complex_value<T> b) {
  const std::complex<T> r = std::pow(std::complex<T>(a.re, a.im), std::complex<T>(b.re, b.im));
  return {r.real(), r.imag()};
}
#endif

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
