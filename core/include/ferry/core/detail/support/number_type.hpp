// Number types as run-time values.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// std::complex, and the complex types of CUDA's libraries.
template <class T>
concept complex_number = requires(const T& z) {
  typename T::value_type;
  z.real();
  z.imag();
}
&&std::floating_point<typename T::value_type>&& std::convertible_to<typename T::value_type, T> &&
    sizeof(T) == 2 * sizeof(typename T::value_type);

// Numbers that a copy can convert into each other, as static_cast does.
enum class number_type : std::uint8_t {
  none,  // other elements, copied as bytes
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64
};

// Calls f(T{}) with the type of this value; does nothing for none.
template <class F>
void with_number(number_type t, F f) {
  switch (t) {
    case number_type::none: return;
    case number_type::int8: return f(std::int8_t{});
    case number_type::int16: return f(std::int16_t{});
    case number_type::int32: return f(std::int32_t{});
    case number_type::int64: return f(std::int64_t{});
    case number_type::uint8: return f(std::uint8_t{});
    case number_type::uint16: return f(std::uint16_t{});
    case number_type::uint32: return f(std::uint32_t{});
    case number_type::uint64: return f(std::uint64_t{});
    case number_type::float32: return f(float{});
    case number_type::float64: return f(double{});
  }
}

// Size in bytes; 0 for none.
inline std::size_t size_of(number_type t) {
  std::size_t n = 0;
  with_number(t, [&](auto v) { n = sizeof v; });
  return n;
}

// The value for an arithmetic type; none for other types and bool.
template <class T>
constexpr number_type number_type_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return number_type::none;
  } else if constexpr (std::integral<T>) {
    switch (sizeof(T)) {
      case 1: return std::is_signed_v<T> ? number_type::int8 : number_type::uint8;
      case 2: return std::is_signed_v<T> ? number_type::int16 : number_type::uint16;
      case 4: return std::is_signed_v<T> ? number_type::int32 : number_type::uint32;
      case 8: return std::is_signed_v<T> ? number_type::int64 : number_type::uint64;
      default: return number_type::none;
    }
  } else if constexpr (std::is_same_v<T, float>) {
    return number_type::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return number_type::float64;
  } else {
    return number_type::none;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
