// Sorting of expressions over sharded arrays. No templates.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

// Sorts to an array of the same team, shape and distribution, of the type of the elements, or int64 for positions.
// Along an axis that is not cut, each member sorts its own lines. Of one dimension, members sort their
// cells, exchange them, and sort what they received; blocks until the members have counted. Throws invalid_argument if
// distributions do not fit, for several dimensions along an axis of distribution, and, where it blocks, in a capture.
void sort_sharded(const sorting_over_team& r, const sharded_operand& to);

// The first k elements in order of an array of one dimension, and their positions, to one copy of both for each local
// member: each member finds its own, then all find them among those of all. Does not block. Throws invalid_argument for
// more elements than there are.
void find_top_elements(const sorting_over_team& r, std::size_t k, std::span<const program_operand> values,
                       std::span<const program_operand> positions);

// The different elements of members, of which each member has some.
struct distinct_elements {
  std::vector<program_operand> values;  // of each local member
  std::vector<part> kept;               // of each member: those that no member before it has
  std::size_t count = 0;
};
// Those of an array of one dimension whose elements are in order. Blocks until their number is known.
distinct_elements find_distinct_elements(const sharded_operand& sorted);
// Copies them to an array of their number.
void store_distinct_elements(const distinct_elements& all, const sharded_operand& to);

// Where each of `values` belongs in `sorted`, of which every member has all elements, to an array with the distribution
// of the values: each member searches for its own. Types are those of the elements that are compared. Does not block.
// Throws invalid_argument if `sorted` reads a sharded array, or distributions do not fit.
void search_sharded(const expression_program& sorted, const expression_program& values, scalar_type type,
                    bool is_after_equal, const sharded_operand& to);

}  // namespace ferry::inline FERRY_ABI::detail
