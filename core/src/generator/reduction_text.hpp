// The source of the kernel for a reduction, and its arguments.
#pragma once
#include <cstddef>
#include <vector>

#include "generator/reduction_plan.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Depends on the plan's shape() alone. A block has reduction_plan::threads threads, and the grid plan.blocks() blocks.
jit::kernel_source reduction_source_for(const reduction_evaluation& r, const reduction_plan& p);

// The kernel's structure of arguments, in units of 16 bytes. scratch: as the plan says.
std::vector<program_constant> reduction_arguments(const reduction_evaluation& r, const reduction_plan& p,
                                                  void* scratch);

}  // namespace ferry::inline FERRY_ABI::detail::generator
