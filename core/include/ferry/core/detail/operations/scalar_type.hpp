// Types of elements in programs, as run-time values.
#pragma once
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/half.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class scalar_type : std::uint8_t {
  none,
  boolean,  // one byte: 0 or 1
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,
  bfloat16,
  float32,
  float64,
  complex64,  // std::complex<float>
  complex128
};
inline constexpr int scalar_types = 16;

// Size in bytes; 0 for none.
constexpr std::size_t size_of(scalar_type t) {
  constexpr std::uint8_t sizes[scalar_types] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
// Name for messages, as C++ code spells the type.
constexpr std::string_view name_of(scalar_type t) {
  constexpr std::string_view names[scalar_types] = {
      "?",     "bool",     "int8_t",         "uint8_t",        "int16_t", "uint16_t",
      "int",   "unsigned", "int64_t",        "uint64_t",       "half",    "bfloat16",
      "float", "double",   "complex<float>", "complex<double>"};
  return names[static_cast<int>(t)];
}
constexpr bool is_signed(scalar_type t) {
  return t == scalar_type::int8 || t == scalar_type::int16 || t == scalar_type::int32 || t == scalar_type::int64;
}
constexpr bool is_integer(scalar_type t) { return t >= scalar_type::int8 && t <= scalar_type::uint64; }
constexpr bool is_complex(scalar_type t) { return t >= scalar_type::complex64; }
// True for half, bfloat16, float and double.
constexpr bool is_floating(scalar_type t) { return t >= scalar_type::half && t <= scalar_type::float64; }

// The type in which registers of a program hold elements of type t. half and bfloat16 exist in memory only: a load
// converts them to float, and a store rounds once.
constexpr scalar_type computed_as(scalar_type t) {
  return t == scalar_type::half || t == scalar_type::bfloat16 ? scalar_type::float32 : t;
}
// float for complex<float> and so on; other types unchanged.
constexpr scalar_type real_of(scalar_type t) {
  return t == scalar_type::complex64 ? scalar_type::float32 : t == scalar_type::complex128 ? scalar_type::float64 : t;
}
constexpr scalar_type complex_of(scalar_type t) {
  return t == scalar_type::float64 || t == scalar_type::complex128 ? scalar_type::complex128 : scalar_type::complex64;
}

// The value for a C++ type; none for types that programs do not support.
template <class T>
constexpr scalar_type scalar_type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return scalar_type::boolean;
  else if constexpr (std::is_same_v<T, half>)
    return scalar_type::half;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return scalar_type::bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return scalar_type::float32;
  else if constexpr (std::is_same_v<T, double>)
    return scalar_type::float64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return scalar_type::complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return scalar_type::complex128;
  else if constexpr (std::integral<T> && sizeof(T) <= 8)
    return static_cast<scalar_type>((sizeof(T) == 1   ? 2
                                     : sizeof(T) == 2 ? 4
                                     : sizeof(T) == 4 ? 6
                                                      : 8) +
                                    (std::is_signed_v<T> ? 0 : 1));
  else
    return scalar_type::none;
}

// The C++ type of a value; void for none.
template <scalar_type Type>
constexpr auto type_of_scalar() {
  using enum scalar_type;
  if constexpr (Type == boolean) return std::type_identity<bool>();
  if constexpr (Type == int8) return std::type_identity<std::int8_t>();
  if constexpr (Type == uint8) return std::type_identity<std::uint8_t>();
  if constexpr (Type == int16) return std::type_identity<std::int16_t>();
  if constexpr (Type == uint16) return std::type_identity<std::uint16_t>();
  if constexpr (Type == int32) return std::type_identity<std::int32_t>();
  if constexpr (Type == uint32) return std::type_identity<std::uint32_t>();
  if constexpr (Type == int64) return std::type_identity<std::int64_t>();
  if constexpr (Type == uint64) return std::type_identity<std::uint64_t>();
  if constexpr (Type == scalar_type::half) return std::type_identity<ferry::half>();
  if constexpr (Type == scalar_type::bfloat16) return std::type_identity<ferry::bfloat16>();
  if constexpr (Type == float32) return std::type_identity<float>();
  if constexpr (Type == float64) return std::type_identity<double>();
  if constexpr (Type == complex64) return std::type_identity<std::complex<float>>();
  if constexpr (Type == complex128) return std::type_identity<std::complex<double>>();
  if constexpr (Type == none) return std::type_identity<void>();
}
template <scalar_type Type>
using scalar_of = typename decltype(type_of_scalar<Type>())::type;

}  // namespace ferry::inline FERRY_ABI::detail
