// Operands of expressions of which each member of a team has a part or a copy. No templates.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

class sharded_operand;
using axis_offsets = std::array<std::ptrdiff_t, max_rank>;  // in cells, by axis from the last

// An axis, counted from the last, that is cut into the parts of members.
struct cut_axis {
  std::size_t axis = 0, extent = 0;
};

class team_operand : public operand_placeholder {
 public:
  virtual const ferry::team& team() const = 0;
  // Returns the array that has these cells; null for a replicated array.
  virtual const sharded_operand* array() const { return nullptr; }
  // Returns the distance from each cell of the destination to the cell that is read.
  virtual axis_offsets shift() const { return {}; }
  // For a result of which each member has a part: returns the axis along which the destination must be distributed.
  // None for arrays, and if each member has the whole result.
  virtual std::optional<cut_axis> cut() const { return {}; }
};

// Adds what refers to the memory of an operand of an expression, or of the operand itself.
template <class X>
void keep_operands(std::vector<std::shared_ptr<const team_operand>>& all, const X& x) {
  if constexpr (requires { x.operands(); })
    all.insert(all.end(), x.operands().begin(), x.operands().end());
  else if constexpr (requires { x.team_operand(); })
    all.push_back(x.team_operand());
  else if constexpr (std::is_convertible_v<const X&, std::shared_ptr<const team_operand>>)
    all.push_back(x);
}

}  // namespace ferry::inline FERRY_ABI::detail
