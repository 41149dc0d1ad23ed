// Texts about programs over sharded arrays, and their kernels. No templates.
#pragma once
#include <string>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The program, the halos that it would exchange now, and what a member computes. All throw as team_of() does.
std::string explain_sharded(const expression_program& p, scalar_type type);
std::string explain_axes_reduction(const axes_reduction& r);

// Compiles the kernels that assign the program to an array with the distribution and the halos of its first sharded
// array: of all cells of each member, or of the interior and the edges. Blocks until that is done. Returns false if
// some are not compiled.
bool precompile_sharded(const expression_program& p, scalar_type type);

}  // namespace ferry::inline FERRY_ABI::detail
