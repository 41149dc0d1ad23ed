// Texts about programs over sharded arrays, and their kernels. No templates.
#pragma once
#include <span>
#include <string>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"
#include "ferry/multigpu/detail/expressions/sharded_scan.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The program, the halos that it would exchange now, and what a member computes. All throw as team_of() does.
std::string explain_sharded(const expression_program& p, scalar_type type);
std::string explain_axes_reduction(const axes_reduction& r);
std::string explain_scan(const scan_over_team& r);

// Compiles the kernels that assign the program to an array with the distribution and the halos of its first sharded
// array: of all cells of each member, or of the interior and the edges. Blocks until that is done. Returns false if
// some are not compiled.
bool precompile_sharded(const expression_program& p, scalar_type type);
// The same for the kernels in which members reduce their cells: of a reduction along axes, and of several over all
// cells in one pass. Not those that join results, which are interpreted if they are not compiled.
bool precompile_axes_reduction(const axes_reduction& r);
bool precompile_totals(std::span<const axes_reduction* const> all);

}  // namespace ferry::inline FERRY_ABI::detail
