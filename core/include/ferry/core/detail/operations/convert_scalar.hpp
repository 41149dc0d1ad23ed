// Conversion of one value at run time.
#pragma once
#include <complex>
#include <limits>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Converts to an integer: rounds to zero; beyond the range to the nearest integer; NaN to 0.
template <class To, class From>
constexpr To saturated(From value) {
  using limits = std::numeric_limits<To>;
  constexpr auto low = static_cast<From>(limits::min());
  constexpr auto beyond = static_cast<From>(limits::max() / 2 + 1) * From(2);  // exact in every floating point type
  return value != value    ? To(0)
         : value <= low    ? limits::min()
         : value >= beyond ? limits::max()
                           : static_cast<To>(value);
}

// Converts as the operation `cast`, and rounds once for half and bfloat16. Complex numbers convert to complex ones
// only; otherwise sets 0. Both addresses may be unaligned.
void convert_scalar(void* to, scalar_type to_type, const void* from, scalar_type from_type);

}  // namespace ferry::inline FERRY_ABI::detail
