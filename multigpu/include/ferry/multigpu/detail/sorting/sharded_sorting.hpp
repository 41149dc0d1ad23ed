// Sorting of expressions over sharded arrays. No templates.
#pragma once
#include <cstdint>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct sorting_over_team {
  std::string_view name;        // of the function, for errors
  expression_program elements;  // as the user wrote them
  scalar_type type;             // of the elements
  int axis = -1;                // negative: from the last
  bool is_descending = false;   // NaN is last in both directions
  bool are_positions = false;   // the result is where elements come from, else the elements
};

// Sorts to an array of the same team, shape and distribution, of the type of the elements, or int64 for positions. Along
// another axis than that of distribution, each member sorts its own lines. Of one dimension, members sort their cells,
// exchange them, and sort what they received; blocks until the members have counted. Throws invalid_argument if
// distributions do not fit, for several dimensions along the axis of distribution, and, where it blocks, in a capture.
void sort_sharded(const sorting_over_team& r, const sharded_operand& to);

}  // namespace ferry::inline FERRY_ABI::detail
