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
#include "ferry/multigpu/detail/teams/member_grid.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

class sharded_operand;
using axis_offsets = std::array<std::ptrdiff_t, max_rank>;  // in cells, by axis from the last

// A shape that is cut into the parts of members. If the grid has fewer members than the team, several have the same
// part.
struct cut_shape {
  program_shape extents;
  member_grid grid;

  // Returns the part of a member.
  program_part own(std::size_t member) const {
    program_part p;
    p.member = member;
    p.whole = p.shape = extents;
    grid.for_each_cut(member, [&](std::size_t axis, std::size_t at) {
      const part mine = even_part(at, grid.members[axis], extents.extent[axis]);
      p.first[axis] = static_cast<std::ptrdiff_t>(mine.begin), p.shape.extent[axis] = mine.size();
    });
    return p;
  }
  // True if members have the same indices of another shape along the axes that are cut.
  bool fits(const cut_shape& o) const {
    for (std::size_t d = 0; d != extents.rank; ++d)
      if (grid.is_cut(d) && (grid.members[d] != o.grid.members[d] || grid.step[d] != o.grid.step[d] ||
                             extents.extent[d] != o.extents.extent[d]))
        return false;
    return true;
  }
};

class team_operand : public operand_placeholder {
 public:
  virtual const ferry::team& team() const = 0;
  // Returns the array that has these cells; null for a replicated array.
  virtual const sharded_operand* array() const { return nullptr; }
  // Returns the distance from each cell of the destination to the cell that is read.
  virtual axis_offsets shift() const { return {}; }
  // For a result of which each member has a part: returns the parts, which those of the destination must fit. None for
  // arrays, and if each member has the whole result.
  virtual std::optional<cut_shape> cut() const { return {}; }
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
