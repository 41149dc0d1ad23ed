// The loops over blocks, in the namespace FERRY_LOOPS. Included once by each source that compiles them; no include
// guard. FERRY_LOOPS_ALL: also the functions that no compiler vectorizes.
//
// Complex numbers have a type of their own, not std::complex. Otherwise the linker might use functions of std::complex
// that were compiled for AVX2 in the whole program.
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/operations/convert_scalar.hpp"
#include "ferry/core/detail/operations/operation_list.hpp"
#include "interpreter/loop_table.hpp"

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
concept real_value = std::is_floating_point_v<T>;
template <class T>
concept integer_value = std::is_integral_v<T>;

// The types of values in registers and in memory.
template <scalar_type Type>
struct value_type {
  using type = scalar_of<Type>;
};
template <>
struct value_type<scalar_type::complex64> {
  using type = complex_value<float>;
};
template <>
struct value_type<scalar_type::complex128> {
  using type = complex_value<double>;
};
template <scalar_type Type>
using value_of_type = typename value_type<Type>::type;

template <class T>
using word_of = std::make_unsigned_t<T>;

template <integer_value T>
static inline T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(word_of<T>(0) - static_cast<word_of<T>>(a));
  return static_cast<T>(a / b);
}
template <integer_value T>
static inline T modulo(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}
template <integer_value T>
static inline T shift_left(T a, T n) {
  constexpr word_of<T> bits = sizeof(T) * 8;
  const auto by = static_cast<word_of<T>>(n);
  return static_cast<T>(by < bits ? static_cast<word_of<T>>(a) << (by & (bits - 1)) : 0);
}
template <integer_value T>
static inline T shift_right(T a, T n) {
  constexpr word_of<T> bits = sizeof(T) * 8;
  const auto by = static_cast<word_of<T>>(n);
  return static_cast<T>(a >> (by < bits ? by : bits - 1)) &
         (std::is_signed_v<T> || by < bits ? static_cast<T>(-1) : T(0));
}
template <integer_value T>
static inline T smaller(T a, T b) {
  return b < a ? b : a;
}
template <integer_value T>
static inline T larger(T a, T b) {
  return b > a ? b : a;
}
template <integer_value T>
static inline T abs(T a) {
  if constexpr (std::is_signed_v<T>)
    return a < 0 ? static_cast<T>(word_of<T>(0) - static_cast<word_of<T>>(a)) : a;
  else
    return a;
}
template <class T>
static inline T sign(T a) {
  if constexpr (std::is_unsigned_v<T>)
    return a > 0 ? 1 : 0;
  else
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
}

template <real_value T>
static inline T divide(T a, T b) {
  return a / b;
}
template <real_value T>
static inline T smaller(T a, T b) {
  return a != a ? a : b < a || b != b ? b : a;
}
template <real_value T>
static inline T larger(T a, T b) {
  return a != a ? a : b > a || b != b ? b : a;
}
template <real_value T>
static inline T greatest(T) {
  return std::numeric_limits<T>::max();
}

// The functions of <cmath>, as built-in functions of the compiler. Templates of the library must not be instantiated
// here, for the same reason.
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
#undef FERRY_FUNCTION_1
#undef FERRY_FUNCTION_2
#undef FERRY_FUNCTION_3

// True for operations whose loops are faster with wider registers. The others are calls of functions.
constexpr bool is_vectorized(operation o, scalar_type t) {
  using enum operation;
  switch (o) {
    case add:
    case subtract:
    case multiply:
    case divide:
    case negate:
    case equal:
    case not_equal:
    case select:
    case conj:
    case real:
    case imag:
    case norm:
    case complex: return true;
    case sqrt:
    case less:
    case less_equal:
    case greater:
    case greater_equal:
    case logical_and:
    case logical_or:
    case logical_not:
    case bit_and:
    case bit_or:
    case bit_xor:
    case bit_not:
    case shift_left:
    case shift_right:
    case operation::min:
    case operation::max:
    case clamp:
    case abs:
    case sign:
    case rsqrt:
    case floor:
    case ceil:
    case trunc:
    case rint:
    case isnan:
    case isinf:
    case isfinite:
    case signbit:
    case copysign:
    case fmin:
    case fmax:
    case fma:
    case lerp: return !is_complex(t);
    default: return false;
  }
}
constexpr bool is_compiled(operation o, scalar_type t) {
#ifdef FERRY_LOOPS_ALL
  return is_defined(o, t);
#else
  return is_defined(o, t) && is_vectorized(o, t);
#endif
}

template <operation What>
struct computation;
#define FERRY_OPERATION(name, operands, domain, result, code)                                 \
  template <>                                                                                 \
  struct computation<operation::name> {                                                       \
    template <class A, class T>                                                               \
    static inline auto of([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return code;                                                                            \
    }                                                                                         \
  };
FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION

// The types of elements in loops. Elements of type bool are bytes, because compilers do not vectorize loops that load
// bool.
template <scalar_type Type>
using element_in_loop = std::conditional_t<Type == scalar_type::boolean, unsigned char, value_of_type<Type>>;

template <operation What, scalar_type Type>
static void run_operation(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c, std::size_t n) {
  using value = element_in_loop<Type>;
  using first = std::conditional_t<What == operation::select, element_in_loop<scalar_type::boolean>, value>;
  using result = element_in_loop<result_type(What, Type)>;
  constexpr int operands = info_of(What).operands;
  auto* r = reinterpret_cast<result*>(to);
  const auto* x = reinterpret_cast<const first*>(a);
  const auto* y = reinterpret_cast<const value*>(operands > 1 ? b : nullptr);
  const auto* z = reinterpret_cast<const value*>(operands > 2 ? c : nullptr);
  using of = computation<What>;
  // If the result overwrites an operand, each iteration reads an element before it writes it. So iterations are
  // independent.
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (operands == 1)
      r[i] = static_cast<result>(of::of(x[i], value(), value()));
    else if constexpr (operands == 2)
      r[i] = static_cast<result>(of::of(x[i], y[i], value()));
    else
      r[i] = static_cast<result>(of::of(x[i], y[i], z[i]));
  }
}

template <class To, class From>
static inline To cast_value(From x) {
  constexpr bool is_short = std::is_same_v<From, half> || std::is_same_v<From, bfloat16>;
  if constexpr (is_complex_value<From>) {
    using part = decltype(To().re);
    return {static_cast<part>(x.re), static_cast<part>(x.im)};
  } else if constexpr (is_complex_value<To>) {
    using part = decltype(To().re);
    return {static_cast<part>(x), part(0)};
  } else if constexpr (is_short) {
    return static_cast<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return saturated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <scalar_type To, scalar_type From>
static void run_cast(std::byte* to, const std::byte* a, const std::byte*, const std::byte*, std::size_t n) {
  auto* r = reinterpret_cast<value_of_type<To>*>(to);
  const auto* x = reinterpret_cast<const element_in_loop<From>*>(a);
  for (std::size_t i = 0; i < n; ++i) r[i] = cast_value<value_of_type<To>>(x[i]);
}

template <class Short, class From>
static void run_rounding(std::byte* to, const std::byte* a, const std::byte*, const std::byte*, std::size_t n) {
  auto* r = reinterpret_cast<float*>(to);
  const auto* x = reinterpret_cast<const From*>(a);
  for (std::size_t i = 0; i < n; ++i) r[i] = static_cast<float>(Short(x[i]));
}

struct sixteen_bytes {
  std::uint64_t part[2];
};
template <class T>
static inline const T& element_at(const std::byte* base, std::ptrdiff_t offset) {
  return *reinterpret_cast<const T*>(base + offset);
}

// Has loops of their own for contiguous columns, and for rows of one value.
template <class T>
static void run_gather(std::byte* to, const std::byte* from, const element_grid& g) {
  auto* r = reinterpret_cast<T*>(to);
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::size_t i = 0; i < g.rows; ++i, from += g.row_stride, r += g.columns) {
    if (g.column_stride == size) {
      const auto* row = reinterpret_cast<const T*>(from);
      for (std::size_t j = 0; j < g.columns; ++j) r[j] = row[j];
    } else if (g.column_stride == 0) {
      const T one = element_at<T>(from, 0);
      for (std::size_t j = 0; j < g.columns; ++j) r[j] = one;
    } else {
      for (std::size_t j = 0; j < g.columns; ++j)
        r[j] = element_at<T>(from, static_cast<std::ptrdiff_t>(j) * g.column_stride);
    }
  }
}
template <class T>
static void run_scatter(std::byte* to, const std::byte* from, const element_grid& g) {
  const auto* x = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < g.rows; ++i, to += g.row_stride, x += g.columns)
    for (std::size_t j = 0; j < g.columns; ++j)
      *reinterpret_cast<T*>(to + static_cast<std::ptrdiff_t>(j) * g.column_stride) = x[j];
}
template <class T>
static void run_masked_scatter(std::byte* to, const std::byte* from, const bool* mask, const element_grid& g) {
  const auto* x = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < g.rows; ++i, to += g.row_stride, x += g.columns, mask += g.columns)
    for (std::size_t j = 0; j < g.columns; ++j)
      if (mask[j]) *reinterpret_cast<T*>(to + static_cast<std::ptrdiff_t>(j) * g.column_stride) = x[j];
}

template <class T>
static void run_indexed(std::byte* to, const std::byte* from, const std::byte* offset, const element_grid& g) {
  for (std::size_t i = 0; i < g.rows; ++i, from += g.row_stride)
    for (std::size_t j = 0; j < g.columns; ++j, to += sizeof(T), offset += sizeof(std::int64_t)) {
      std::int64_t by = 0;
      std::memcpy(&by, offset, sizeof by);
      std::memcpy(to, from + static_cast<std::ptrdiff_t>(j) * g.column_stride + by, sizeof(T));
    }
}

static bool run_bounded_offset(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c,
                               std::size_t n) {
  auto* r = reinterpret_cast<std::int64_t*>(to);
  const auto* index = reinterpret_cast<const std::int64_t*>(a);
  const std::int64_t extent = *reinterpret_cast<const std::int64_t*>(b);
  const std::int64_t stride = *reinterpret_cast<const std::int64_t*>(c);
  bool is_outside = false;
  for (std::size_t i = 0; i < n; ++i) is_outside |= (index[i] < -extent) | (index[i] >= extent);
  if (is_outside) return false;
  for (std::size_t i = 0; i < n; ++i) r[i] = (index[i] < 0 ? index[i] + extent : index[i]) * stride;
  return true;
}

template <operation What, scalar_type Type>
static constexpr block_loop operation_loop() {
  if constexpr (is_compiled(What, Type))
    return &run_operation<What, Type>;
  else
    return nullptr;
}
template <scalar_type To, scalar_type From>
static constexpr block_loop cast_loop() {
  constexpr bool is_one = To == scalar_type::none || From == scalar_type::none || To == From;
  constexpr bool is_short_pair = computed_as(To) != To && computed_as(From) != From;
  constexpr bool loses_part = is_complex(From) && !is_complex(To);
  if constexpr (is_one || is_short_pair || loses_part)
    return nullptr;
  else
    return &run_cast<To, From>;
}

template <int What, std::size_t... Type>
static constexpr void fill_operation(loop_table& t, std::index_sequence<Type...>) {
  ((t.operations[What][Type] = operation_loop<static_cast<operation>(What), static_cast<scalar_type>(Type)>()), ...);
}
template <std::size_t To, std::size_t... From>
static constexpr void fill_casts(loop_table& t, std::index_sequence<From...>) {
  ((t.casts[To][From] = cast_loop<static_cast<scalar_type>(To), static_cast<scalar_type>(From)>()), ...);
}
template <std::size_t... What, std::size_t... To>
static constexpr loop_table all_loops(std::index_sequence<What...>, std::index_sequence<To...> types) {
  loop_table t{};
  (fill_operation<What>(t, types), ...);
  (fill_casts<To>(t, types), ...);
  t.to_half[0] = &run_rounding<half, float>, t.to_half[1] = &run_rounding<half, double>;
  t.to_bfloat16[0] = &run_rounding<bfloat16, float>, t.to_bfloat16[1] = &run_rounding<bfloat16, double>;
  t.gather[0] = &run_gather<std::uint8_t>, t.gather[1] = &run_gather<std::uint16_t>;
  t.gather[2] = &run_gather<std::uint32_t>, t.gather[3] = &run_gather<std::uint64_t>;
  t.gather[4] = &run_gather<sixteen_bytes>;
  t.scatter[0] = &run_scatter<std::uint8_t>, t.scatter[1] = &run_scatter<std::uint16_t>;
  t.scatter[2] = &run_scatter<std::uint32_t>, t.scatter[3] = &run_scatter<std::uint64_t>;
  t.scatter[4] = &run_scatter<sixteen_bytes>;
  t.masked_scatter[0] = &run_masked_scatter<std::uint8_t>, t.masked_scatter[1] = &run_masked_scatter<std::uint16_t>;
  t.masked_scatter[2] = &run_masked_scatter<std::uint32_t>, t.masked_scatter[3] = &run_masked_scatter<std::uint64_t>;
  t.masked_scatter[4] = &run_masked_scatter<sixteen_bytes>;
  t.indexed[0] = &run_indexed<std::uint8_t>, t.indexed[1] = &run_indexed<std::uint16_t>;
  t.indexed[2] = &run_indexed<std::uint32_t>, t.indexed[3] = &run_indexed<std::uint64_t>;
  t.indexed[4] = &run_indexed<sixteen_bytes>;
  t.bounded_offset = &run_bounded_offset;
  return t;
}

static constexpr loop_table table =
    all_loops(std::make_index_sequence<listed_operations>(), std::make_index_sequence<scalar_types>());

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
