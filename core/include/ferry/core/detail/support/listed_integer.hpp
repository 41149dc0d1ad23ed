// An element of a list of integers in braces, such as {n, 2}. Lists of ptrdiff_t refuse variables of other types.
#pragma once
#include <concepts>
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Unsigned values that a ptrdiff_t does not have become negative, so that checks refuse them.
struct listed_integer {
  std::ptrdiff_t value;
  template <std::integral Int>
  constexpr listed_integer(Int n) : value(static_cast<std::ptrdiff_t>(n)) {}
  constexpr operator std::ptrdiff_t() const { return value; }
};

}  // namespace ferry::inline FERRY_ABI::detail
