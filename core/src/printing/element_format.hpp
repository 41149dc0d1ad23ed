// One format for all elements of an array, as NumPy chooses it: all have the same width.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "ferry/core/detail/support/internal.hpp"
#include "printing/shown_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Text of the element at a position. Valid as long as `all`.
std::function<std::string(std::size_t)> element_format(const shown_elements& all, std::size_t precision);

}  // namespace ferry::inline FERRY_ABI::detail
