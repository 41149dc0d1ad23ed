// The source of the kernel for a reduction.
#pragma once
#include "generator/reduction_plan.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Depends on the plan's shape() alone. The kernel takes the structure of reduction_arguments(); a block has
// reduction_plan::threads threads.
jit::kernel_source reduction_source_for(const reduction_evaluation& r, const reduction_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
