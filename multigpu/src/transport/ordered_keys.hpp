// Floats as integers of the same order, so that any library can compute minimum and maximum as ferry does. The results
// are those of ferry::minimum, maximum, minimum_number and maximum_number: -0 is less than +0, and NaN is below or
// above all numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/multigpu/detail/transport/element_type.hpp"

namespace ferry::inline FERRY_ABI::detail {

// An IEEE format: the bits of infinity, and the bit that makes them a quiet NaN. Key is the integer type.
template <class BitsOfFloat, class KeyOfFloat, BitsOfFloat Infinity, BitsOfFloat Quiet>
struct float_format {
  using bits = BitsOfFloat;
  using key = KeyOfFloat;
  static constexpr key magnitude = std::numeric_limits<bits>::max();  // all bits but the sign
  // The two keys that represent no number.
  static constexpr key lowest = std::numeric_limits<key>::min(), highest = std::numeric_limits<key>::max();

  FERRY_HOST_DEVICE static key to_key(bits b, key nan) {
    if ((b & magnitude) > Infinity) return nan;
    return b < 0 ? static_cast<key>(b ^ magnitude) : static_cast<key>(b);
  }
  FERRY_HOST_DEVICE static bits from_key(key k) {
    if (k == lowest || k == highest) return static_cast<bits>(Infinity | Quiet);
    return static_cast<bits>(k < 0 ? k ^ magnitude : k);
  }
};

// Calls f with the format of a type; does not call it for types that are not floats.
template <class F>
void with_float_format(element_type t, F f) {
  if (t == element_type::float16) f(float_format<std::int16_t, std::int32_t, 0x7c00, 0x0200>());
  if (t == element_type::bfloat16) f(float_format<std::int16_t, std::int32_t, 0x7f80, 0x0040>());
  if (t == element_type::float32) f(float_format<std::int32_t, std::int32_t, 0x7f800000, 0x00400000>());
  if (t == element_type::float64) f(float_format<std::int64_t, std::int64_t, 0x7ff0000000000000, 0x0008000000000000>());
}

inline bool is_float(element_type t) {
  bool is = false;
  with_float_format(t, [&](auto) { is = true; });
  return is;
}
inline bool is_extreme(reduction r) {
  return r == reduction::minimum || r == reduction::maximum || r == reduction::minimum_number ||
         r == reduction::maximum_number;
}
inline bool is_least(reduction r) { return r == reduction::minimum || r == reduction::minimum_number; }
// True if NaN has the key that loses against every number.
inline bool ignores_nan(reduction r) { return r == reduction::minimum_number || r == reduction::maximum_number; }

inline element_type key_type(element_type t) {
  return t == element_type::float64 ? element_type::int64 : element_type::int32;
}
inline std::size_t key_bytes(element_type t) { return t == element_type::float64 ? 8 : 4; }

// Converts elements to keys of an operation, or back. Both sides may be the same memory if their elements have the same
// size.
struct key_conversion {
  element_type type;
  reduction op;
  bool to_keys;
  const std::byte* from;
  std::byte* to;
  std::size_t count;
};

// Enqueues the conversion on `s`. `uses` are the accessed bytes, for the simulator.
void convert_keys(native_stream s, int device, const key_conversion& c, std::span<const kernel_use> uses);

}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI::detail::cuda {
// As convert_keys, by CUDA, in multigpu/src/cuda; only in builds with CUDA.
void launch_key_conversion(native_stream s, int device, const detail::key_conversion& c);
}  // namespace ferry::inline FERRY_ABI::detail::cuda
