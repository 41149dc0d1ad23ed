// Operands of expressions of which each member of a team has a part or a copy. No templates.
#pragma once
#include <array>
#include <cstddef>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

class sharded_operand;
using axis_offsets = std::array<std::ptrdiff_t, max_rank>;  // in cells, by axis from the last

class team_operand : public operand_placeholder {
 public:
  virtual const ferry::team& team() const = 0;
  // The array whose cells these are; null for a replicated array.
  virtual const sharded_operand* array() const { return nullptr; }
  // Distance from each cell of the destination to the cell that is read.
  virtual axis_offsets shift() const { return {}; }
};

}  // namespace ferry::inline FERRY_ABI::detail
