// Reductions that one pass over memory computes.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/detail/reductions/reduction_program.hpp"
#include "reductions/bound_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One program with the values of all, and their destinations. Valid as long as the assignments.
struct joint_reduction {
  explicit joint_reduction(std::span<const reduction_assignment> all);
  expression_program program;
  std::vector<bound_result> results;
};

// Throws invalid_argument if the shapes of the elements, or the axes, differ.
void need_one_pass(const reduction_program& r, const reduction_program& first, source_line at);

// True if an axis that is reduced has the extent 0.
bool is_over_nothing(const reduction_program& r);

}  // namespace ferry::inline FERRY_ABI::detail
