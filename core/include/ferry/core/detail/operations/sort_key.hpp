// The order of elements as the order of unsigned integers.
#pragma once
#include <cstdint>
#include <limits>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Number of bits of the fraction; 0 for integers.
constexpr int fraction_bits(scalar_type t) {
  switch (t) {
    case scalar_type::half: return 10;
    case scalar_type::bfloat16: return 7;
    case scalar_type::float32: return 23;
    case scalar_type::float64: return 52;
    default: return 0;
  }
}
// True if elements of this type can be sorted.
constexpr bool has_order(scalar_type t) { return t != scalar_type::none && !is_complex(t); }

// Maps the bits of an element to a key, so that elements are in order if their keys are, and back. The order of
// floating point numbers is that of their values, -0 before 0, then NaN. In descending order numbers are reversed, and
// NaN is last as well.
//
// Floating point: the bits of negative numbers are inverted, and the sign of others is set. The results are in the
// order of integers, except that NaN with a sign come first. Subtracting the number of such NaN moves them behind all
// others, modulo 2^bits.
template <class U>
class sort_key {
 public:
  // is_merged: -0 counts as 0, and all NaN are equal. Then bits() may return other bits than those of the element.
  constexpr sort_key(scalar_type t, bool is_descending, bool is_merged)
      : sign_(is_signed(t) || fraction_bits(t) != 0 ? top : U(0)),
        nans_(static_cast<U>((U(1) << fraction_bits(t)) - 1)),
        flip_(is_descending ? all : U(0)),
        is_floating_(fraction_bits(t) != 0),
        is_merged_(is_merged && is_floating_) {}
  FERRY_HOST_DEVICE constexpr U operator()(U bits) const {
    if (!is_floating_) return static_cast<U>(bits ^ sign_ ^ flip_);
    if (is_merged_) {
      const U magnitude = static_cast<U>(bits & (top - 1)), infinity = static_cast<U>(top - 1 - nans_);
      if (magnitude == 0) bits = 0;
      if (magnitude > infinity) bits = static_cast<U>(infinity + (nans_ >> 1) + 1);
    }
    const U ordered = static_cast<U>((bits & top) != 0 ? ~bits : bits | top);
    return static_cast<U>((ordered ^ flip_) - nans_);
  }
  FERRY_HOST_DEVICE constexpr U bits(U key) const {
    if (!is_floating_) return static_cast<U>(key ^ sign_ ^ flip_);
    const U ordered = static_cast<U>(static_cast<U>(key + nans_) ^ flip_);
    return static_cast<U>((ordered & top) != 0 ? ordered & (top - 1) : ~ordered);
  }
  // True if a key equals the bits of its element.
  constexpr bool is_identity() const { return !is_floating_ && sign_ == 0 && flip_ == 0; }

 private:
  static constexpr U all = std::numeric_limits<U>::max();
  static constexpr U top = static_cast<U>(all / 2 + 1);
  U sign_, nans_, flip_;
  bool is_floating_, is_merged_;
};

// The type of keys of elements of this type.
constexpr scalar_type key_type_of(scalar_type t) {
  switch (size_of(t)) {
    case 1: return scalar_type::uint8;
    case 2: return scalar_type::uint16;
    case 4: return scalar_type::uint32;
    default: return scalar_type::uint64;
  }
}

// Calls f(U()) for the unsigned integer U with the size of elements of this type.
template <class F>
constexpr auto with_key_type(scalar_type t, F f) {
  switch (size_of(t)) {
    case 1: return f(std::uint8_t());
    case 2: return f(std::uint16_t());
    case 4: return f(std::uint32_t());
    default: return f(std::uint64_t());
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
