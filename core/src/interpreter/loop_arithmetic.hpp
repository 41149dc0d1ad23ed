// Arithmetic and comparisons of integers and real numbers, as loops over blocks compute them. Included by loops_of.hpp
// only; no include guard.
#include <limits>
#include <type_traits>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

template <class T>
concept real_value = std::is_floating_point_v<T>;
template <class T>
concept integer_value = std::is_integral_v<T>;
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

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
