// Places that pages can be sent to or advised about.
#pragma once
#include "ferry/core/runtime.hpp"

namespace ferry {

// Throws invalid_argument for a device or a NUMA node of the CPU that is not there.
void check_place(runtime& m, memory_location where);

}  // namespace ferry
