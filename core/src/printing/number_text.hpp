// Numbers as text, without the locale.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A finite number in parts, such as "-1" and "25" of -1.25, or "-1", "25" and "+07".
struct number_parts {
  std::string whole, fraction, exponent;
};

// Returns the shortest digits that name the number among those of its type. They are rounded to `precision` digits
// behind the point, and have no zeros at the end. v has been converted from the type without rounding.
number_parts plain_parts(double v, scalar_type type, std::size_t precision);
number_parts scientific_parts(double v, scalar_type type, std::size_t precision);

}  // namespace ferry::inline FERRY_ABI::detail
