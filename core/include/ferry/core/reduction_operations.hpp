/// @file
/// Operations of reductions: associative, with their neutral element and the type that they compute in.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"

struct __half;         ///< from CUDA's cuda_fp16.h and cuda_bf16.h, which only their users include
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier)

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// True for types whose T(0) and T(1) are zero and one, so that plus and multiplies have an identity. These are
/// numbers, complex numbers, and CUDA's __half and __nv_bfloat16. Specialize it for other types:
///
/// @code
/// template <> inline constexpr bool ferry::is_number<decimal> = true;
/// @endcode
template <class T>
inline constexpr bool is_number = std::numeric_limits<T>::is_specialized || detail::complex_number<T> ||
                                  std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

namespace detail {

// Accumulator type of sums of T: 64 bits for bool and integers, T for others.
template <class T>
struct sum_of {
  static_assert(is_number<T>,
                "plus and multiplies have no identity for this type: write a functor that joins two values and has "
                "template <class T> static T identity(), the value that changes nothing; or, where T(0) and T(1) are "
                "zero and one, specialize ferry::is_number for the type");
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  using type = std::conditional_t<std::is_integral_v<T> && sizeof(T) < sizeof(wide), wide, T>;
};

// Type in which the least or greatest of T is computed.
template <class T>
struct extreme_of {
  static_assert(std::numeric_limits<T>::is_specialized,
                "minimum and maximum have no identity for this type, as it has no std::numeric_limits: write a functor "
                "that returns the better of two values and has template <class T> static T identity(), the value that "
                "never wins");
  using type = T;
  using limits = std::numeric_limits<T>;
  static constexpr bool has_nan = limits::has_quiet_NaN;
};

template <class T>
FERRY_HOST_DEVICE bool is_nan([[maybe_unused]] const T& a) {
  if constexpr (extreme_of<T>::has_nan)
    return a != a;
  else
    return false;
}
// Total order of numbers that are not NaN: -0 is less than +0.
template <class T>
FERRY_HOST_DEVICE bool is_less(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a));
  else
    return a < b;
}

// The lesser number; NaN only if both are. For float on devices this is one instruction, which orders zeros the same
// way.
template <class T>
FERRY_HOST_DEVICE T lesser_number(const T& a, const T& b) {
#if FERRY_IN_DEVICE_CODE
  if constexpr (std::is_floating_point_v<T>)
    return ::fmin(a, b);
  else
#endif
    return is_less(a, b) || is_nan(b) ? a : b;
}
template <class T>
FERRY_HOST_DEVICE T greater_number(const T& a, const T& b) {
#if FERRY_IN_DEVICE_CODE
  if constexpr (std::is_floating_point_v<T>)
    return ::fmax(a, b);
  else
#endif
    return is_less(b, a) || is_nan(b) ? a : b;
}
// NaN if one of the values is; otherwise the number.
template <class T>
FERRY_HOST_DEVICE T nan_or([[maybe_unused]] const T& a, [[maybe_unused]] const T& b, const T& number) {
  if constexpr (extreme_of<T>::has_nan)
    return is_nan(a) || is_nan(b) ? static_cast<T>(a + b) : number;
  else
    return number;
}

// The type in which Op combines results of type R, and which the reduction returns. An operation may define it by an
// alias template `result`; otherwise it is R.
template <class Op, class R>
struct reduction_result {
  using type = R;
};
template <class Op, class R>
requires requires { typename Op::template result<R>; }
struct reduction_result<Op, R> {
  using type = typename Op::template result<R>;
};

}  // namespace detail

/// Sum. Bool and integers of less than 64 bits are summed in 64 bits: std::uint64_t for bool and unsigned types,
/// std::int64_t for signed ones. All other types stay as they are.
struct plus {
  template <class T>
  using result = typename detail::sum_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  static T identity() {
    return typename detail::sum_of<T>::type(0);
  }
};
/// Product. The types are those of plus.
struct multiplies {
  template <class T>
  using result = typename detail::sum_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a * b;
  }
  template <class T>
  static T identity() {
    return typename detail::sum_of<T>::type(1);
  }
};

/// The least value, as IEEE 754-2019 defines minimum: NaN if any value is NaN, and -0 is less than +0. For no values:
/// plus infinity, or the largest integer.
struct minimum {
  template <class T>
  using result = typename detail::extreme_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return detail::nan_or(a, b, detail::lesser_number(a, b));
  }
  template <class T>
  static T identity() {
    using limits = typename detail::extreme_of<T>::limits;
    if constexpr (limits::has_infinity)
      return limits::infinity();
    else
      return limits::max();
  }
};
/// The greatest value, as IEEE 754-2019 defines maximum: NaN if any value is NaN, and -0 is less than +0. For no
/// values: minus infinity, or the smallest integer.
struct maximum {
  template <class T>
  using result = typename detail::extreme_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return detail::nan_or(a, b, detail::greater_number(a, b));
  }
  template <class T>
  static T identity() {
    using limits = typename detail::extreme_of<T>::limits;
    if constexpr (limits::has_infinity)
      return -limits::infinity();
    else
      return limits::lowest();
  }
};

/// The least of the values that are not NaN (IEEE 754-2019 minimumNumber). NaN if there is none: all are NaN, or there
/// are no values of a type that has NaN.
struct minimum_number {
  template <class T>
  using result = typename detail::extreme_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return detail::lesser_number(a, b);
  }
  template <class T>
  static T identity() {
    if constexpr (detail::extreme_of<T>::has_nan)
      return detail::extreme_of<T>::limits::quiet_NaN();
    else
      return minimum::identity<T>();
  }
};
/// The greatest of the values that are not NaN (IEEE 754-2019 maximumNumber). NaN if there is none, as minimum_number.
struct maximum_number {
  template <class T>
  using result = typename detail::extreme_of<T>::type;
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return detail::greater_number(a, b);
  }
  template <class T>
  static T identity() {
    if constexpr (detail::extreme_of<T>::has_nan)
      return detail::extreme_of<T>::limits::quiet_NaN();
    else
      return maximum::identity<T>();
  }
};

/// @}

}  // namespace ferry::inline FERRY_ABI
