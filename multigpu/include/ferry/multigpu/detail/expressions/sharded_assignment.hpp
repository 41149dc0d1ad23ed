// Assignments of programs to the cells of sharded arrays.
#pragma once
#include <span>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/shards/sharded_operand.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct sharded_assignment {
  const sharded_operand* to;
  const expression_program* value;
};

// Assigns all: each member evaluates the programs over the cells that it owns, on its stream, in one submission. If
// shifted operands need halos that are out of date, these are exchanged meanwhile, and the cells that read them follow.
// All programs read the values from before the assignment. If one reads cells of a destination at another place, the
// results go through temporaries, with a second submission. Throws invalid_argument before anything is submitted if
// shapes, distributions or teams do not fit.
void assign_sharded(std::span<const sharded_assignment> all);

// Exchanges the halos that the program's shifted operands read, and are out of date. Requires operands of one team.
void exchange_for(const team& t, std::span<const expression_program* const> programs);

// Throws invalid_argument, naming both, if operands belong to another team or are distributed otherwise than `to`.
void need_one_distribution(const sharded_operand& to, const expression_program& p);
// True if the program reads memory of an array of this process, at any place.
bool reads_memory_of(const expression_program& p, const sharded_operand& array);
// Returns the first sharded array of the program; null if there is none.
const sharded_operand* first_array_of(const expression_program& p);

}  // namespace ferry::inline FERRY_ABI::detail
