// Device functions of generated scans: exchange between the lanes of a warp, and between blocks.
#pragma once
#include <string_view>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// words<T, Word>, of_lane_before(), of_lane_across() and packet<T>, which publishes a value for other blocks.
std::string_view scan_functions();

}  // namespace ferry::inline FERRY_ABI::detail::generator
