// The source of the kernel for a program and a plan.
#pragma once
#include "generator/kernel_plan.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Name of the generated kernel.
inline constexpr const char* kernel_name = "ferry_kernel";

// Returns the source, which depends on the plan's shape() alone. The kernel takes the structure of write_arguments(). A
// block has kernel_plan::threads threads, and the grid has plan.blocks() blocks.
jit::kernel_source kernel_source_for(const evaluation& e, const kernel_plan& p);

// Returns the program in one line for logs, such as "float y0 = v0 + 2 * sin(v1)". Operands are named by number.
std::string shape_text(const evaluation& e, const kernel_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
