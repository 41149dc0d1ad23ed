// Locations that pages can move to or be advised about.
#pragma once
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Throws invalid_argument for a device or a NUMA node of the CPU that does not exist.
void check_place(runtime& m, memory_location where);

}  // namespace ferry::inline FERRY_ABI::detail
