// The operations of programs as device functions, for kernels that interpret programs.
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "ferry/core/detail/operations/operation_list.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

// The functions of generated kernels, under the same names.
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atanh;
using ::cos;
using ::cosh;
using ::exp;
using ::log;
using ::pow;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
#define FERRY_PRELUDE(name, ...) __VA_ARGS__
#pragma nv_diag_suppress 186  // comparisons of unsigned integers with zero, in templates
#include "generator/prelude.inc"
#undef FERRY_PRELUDE

template <scalar_type Type>
struct value_type {
  using type = std::conditional_t<Type == scalar_type::none, char, scalar_of<Type>>;
};
template <>
struct value_type<scalar_type::none> {
  using type = char;
};
template <>
struct value_type<scalar_type::int64> {
  using type = long long;
};
template <>
struct value_type<scalar_type::uint64> {
  using type = unsigned long long;
};
template <>
struct value_type<scalar_type::half> {
  using type = unsigned short;
};
template <>
struct value_type<scalar_type::bfloat16> {
  using type = unsigned short;
};
template <>
struct value_type<scalar_type::complex64> {
  using type = complex<float>;
};
template <>
struct value_type<scalar_type::complex128> {
  using type = complex<double>;
};
template <scalar_type Type>
using value = typename value_type<Type>::type;

template <operation What>
struct computation;
#define FERRY_OPERATION(name, operands, domain, result, code)                                                     \
  template <>                                                                                                     \
  struct computation<operation::name> {                                                                           \
    template <class A, class T>                                                                                   \
    __device__ __forceinline__ static auto of([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return code;                                                                                                \
    }                                                                                                             \
  };
FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION

// Integers wrap.
template <operation What, class T>
__device__ __forceinline__ auto wrapped(T a, T b, T c) {
  if constexpr (std::is_signed_v<T> && !std::is_floating_point_v<T>) {
    if constexpr (What == operation::add)
      return wrapped_add(a, b);
    else if constexpr (What == operation::subtract)
      return wrapped_subtract(a, b);
    else if constexpr (What == operation::multiply)
      return wrapped_multiply(a, b);
    else if constexpr (What == operation::negate)
      return wrapped_negate(a);
    else if constexpr (What == operation::abs)
      return absolute(a);
    else
      return computation<What>::of(a, b, c);
  } else if constexpr (std::is_unsigned_v<T> && What == operation::abs) {
    return a;
  } else {
    return computation<What>::of(a, b, c);
  }
}

// True for functions that are called for one lane at a time. Inlining their many instructions would increase the
// registers of the whole kernel.
constexpr bool is_call(operation o, scalar_type t) {
  switch (o) {
    case operation::add:
    case operation::subtract:
    case operation::multiply:
    case operation::negate:
    case operation::equal:
    case operation::not_equal:
    case operation::select:
    case operation::real:
    case operation::imag:
    case operation::norm:
    case operation::conj:
    case operation::complex: return false;
    case operation::divide:
    case operation::modulo: return t != scalar_type::float32;
    default:
      return is_complex(t) || (info_of(o).domain.find('i') == std::string_view::npos &&
                               info_of(o).domain.find('b') == std::string_view::npos);
  }
}

template <operation What, scalar_type Type>
__device__ __noinline__ auto called(value<Type> a, value<Type> b, value<Type> c) {
  return wrapped<What, value<Type>>(a, b, c);
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
