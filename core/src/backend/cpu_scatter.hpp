// Scatters on the CPU.
#pragma once
#include "ferry/core/detail/operations/scatter_task.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Stores, or adds, in the order of the values. Throws invalid_argument before it writes, if an index is outside, or of
// a task that is checked, repeated.
void scatter_on_cpu(const scatter_task& t);

}  // namespace ferry::inline FERRY_ABI::detail
