// Scans of expressions over sharded arrays. No templates.
#pragma once
#include "ferry/core/detail/reductions/reduction_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct scan_over_team {
  expression_program elements;  // as the user wrote them
  reduction_program over;       // a scan of them
  program_constant identity{};  // the neutral value, in the type in which the scan combines values
};

// True if the scan is along an axis of distribution of an array.
bool is_scanned_along_members(const scan_over_team& r, const sharded_operand& array);
// Throws invalid_argument if it is along one of several axes of distribution.
void need_one_cut_along_scan(const scan_over_team& r, const sharded_operand& array);
// Scans to an array of the same team, shape and distribution. Along an axis that is not cut, each member scans its own
// cells. Otherwise each member then combines its cells with the results of the members before it, in their order. An
// exclusive scan begins with its initial value in the first member, and with the identity in others. Throws
// invalid_argument if shapes, distributions or teams do not fit, and along one of several axes of distribution.
void scan_sharded(const scan_over_team& r, const sharded_operand& to);
// Compiles the kernels in which members scan their cells, and blocks until that is done. Returns false if nothing can
// be compiled.
bool precompile_scan(const scan_over_team& r);

}  // namespace ferry::inline FERRY_ABI::detail
