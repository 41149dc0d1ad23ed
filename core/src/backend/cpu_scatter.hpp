// Scatters on the CPU.
#pragma once
#include "ferry/core/detail/operations/scatter_task.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Stores or adds the values in their order. Throws invalid_argument, before it writes anything, if an index is outside
// of its axis. If the task is checked, also if an index is repeated.
void scatter_on_cpu(const scatter_task& t);

}  // namespace ferry::inline FERRY_ABI::detail
