/// @file
/// Floating point numbers of 16 bits: half (IEEE 754 binary16) and bfloat16.
#pragma once
#include <cstdint>
#include <type_traits>

#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {

// Conversions round to the nearest value, ties to even. They are written without branches on data, so that compilers
// vectorize loops of them.
FERRY_HOST_DEVICE constexpr std::uint16_t half_bits(float value) {
  const auto all = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = all & 0x80000000u, x = all ^ sign;
  // A sum with 0.5 aligns the bits of a subnormal result, and rounds them.
  const auto shifted = __builtin_bit_cast(float, x < 0x38800000u ? x : 0u) + 0.5f;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u;
  const std::uint32_t normal = (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13;
  const std::uint32_t beyond = x > 0x7f800000u ? 0x7fffu : 0x7c00u;
  const std::uint32_t finite = x < 0x38800000u ? subnormal : normal;
  return static_cast<std::uint16_t>((x >= 0x47800000u ? beyond : finite) | sign >> 16);
}
FERRY_HOST_DEVICE constexpr float float_of_half(std::uint16_t bits) {
  const std::uint32_t x = (bits & 0x7fffu) << 13, exponent = x & 0x0f800000u;
  const std::uint32_t moved = x + 0x38000000u + (exponent == 0x0f800000u ? 0x38000000u : 0u);
  const auto subnormal = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, x + 0x38800000u) - 0x1p-14f);
  const std::uint32_t magnitude = exponent == 0 ? subnormal : moved;
  return __builtin_bit_cast(float, magnitude | (bits & 0x8000u) << 16);
}
FERRY_HOST_DEVICE constexpr std::uint16_t bfloat16_bits(float value) {
  const auto x = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
  return static_cast<std::uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}
FERRY_HOST_DEVICE constexpr float float_of_bfloat16(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}
// Rounds to float such that a second rounding, to half or bfloat16, gives the same as one rounding of `value`: an
// inexact result gets an odd last bit.
FERRY_HOST_DEVICE constexpr float rounded_to_odd(double value) {
  const auto near = static_cast<float>(value);
  const auto bits = __builtin_bit_cast(std::uint32_t, near);
  const double back = near;
  const bool is_larger = value < 0 ? back < value : back > value;
  const std::uint32_t odd = (bits - (is_larger ? 1u : 0u)) | 1u;
  return back == value || value != value ? near : __builtin_bit_cast(float, odd);
}

}  // namespace detail

/// IEEE 754 binary16. Stores a value in 16 bits; arithmetic converts to float. The bits are those of CUDA's `__half`.
class half {
 public:
  half() = default;  // cppcheck-suppress uninitMemberVar
  /// Rounds to the nearest half, ties to even. Values beyond 65504 become infinities.
  FERRY_HOST_DEVICE constexpr explicit half(float value) : bits_(detail::half_bits(value)) {}
  /// As above; rounds once.
  FERRY_HOST_DEVICE constexpr explicit half(double value) : half(detail::rounded_to_odd(value)) {}
  /// As above, for integers.
  template <class Int>
  requires(std::is_integral_v<Int>) FERRY_HOST_DEVICE constexpr explicit half(Int value)
      : half(static_cast<double>(value)) {}
  /// The number with these bits.
  FERRY_HOST_DEVICE static constexpr half from_bits(std::uint16_t bits) {
    half h;
    h.bits_ = bits;
    return h;
  }
  /// The bits of the number.
  FERRY_HOST_DEVICE constexpr std::uint16_t bits() const { return bits_; }
  /// The value, exactly.
  FERRY_HOST_DEVICE constexpr operator float() const { return detail::float_of_half(bits_); }

 private:
  std::uint16_t bits_;
};

/// bfloat16: the upper 16 bits of a float. Arithmetic converts to float. The bits are those of CUDA's `__nv_bfloat16`.
class bfloat16 {
 public:
  bfloat16() = default;  // cppcheck-suppress uninitMemberVar
  /// Rounds to the nearest bfloat16, ties to even.
  FERRY_HOST_DEVICE constexpr explicit bfloat16(float value) : bits_(detail::bfloat16_bits(value)) {}
  /// As above; rounds once.
  FERRY_HOST_DEVICE constexpr explicit bfloat16(double value) : bfloat16(detail::rounded_to_odd(value)) {}
  /// As above, for integers.
  template <class Int>
  requires(std::is_integral_v<Int>) FERRY_HOST_DEVICE constexpr explicit bfloat16(Int value)
      : bfloat16(static_cast<double>(value)) {}
  /// The number with these bits.
  FERRY_HOST_DEVICE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 b;
    b.bits_ = bits;
    return b;
  }
  /// The bits of the number.
  FERRY_HOST_DEVICE constexpr std::uint16_t bits() const { return bits_; }
  /// The value, exactly.
  FERRY_HOST_DEVICE constexpr operator float() const { return detail::float_of_bfloat16(bits_); }

 private:
  std::uint16_t bits_;
};

static_assert(sizeof(half) == 2 && std::is_trivial_v<half> && sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16>);

/// @}

}  // namespace ferry::inline FERRY_ABI
