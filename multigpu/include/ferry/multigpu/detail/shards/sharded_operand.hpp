// The cells of sharded arrays as operands of expressions. No templates.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/halos/halo_plan.hpp"
#include "ferry/multigpu/detail/teams/team_operand.hpp"

namespace ferry::inline FERRY_ABI::detail {

using each_member = std::vector<program_operand>;  // one for each local member

// The distribution of an array. Axes are numbered from the last.
struct shard_distribution : cut_shape {
  std::array<std::size_t, max_rank> halo{};
  std::array<bool, max_rank> periodic{};
  bool is_like(const shard_distribution& o) const { return extents == o.extents && grid == o.grid; }
  // True if no member has cells, because there are none along an axis that is cut.
  bool is_empty_along_cuts() const {
    for (std::size_t d = 0; d != extents.rank; ++d)
      if (grid.is_cut(d) && extents.extent[d] == 0) return true;
    return false;
  }
  // True if a member has indices along all axes that are cut.
  bool has_part(std::size_t member) const {
    bool has = true;
    grid.for_each_cut(member, [&](std::size_t axis, std::size_t at) { has = has && at < extents.extent[axis]; });
    return has;
  }
};

// The cells of a sharded array.
class sharded_operand : public team_operand {
 public:
  const sharded_operand* array() const override { return this; }
  program_operand elements(const program_part& p) const override { return cells(p); }
  virtual shard_distribution distribution() const = 0;
  // Returns cells of a part, which may be in halos.
  virtual program_operand cells(const program_part& p) const = 0;
  // Returns all memory of a local member's shard, with halos.
  virtual byte_range memory(std::size_t member) const = 0;
  // Returns a text such as "sharded array 'u' of 40 x 30 along axis 0 of a team of 2".
  virtual std::string described() const = 0;
  // Returns the plan of the exchange; null before the first exchange.
  virtual halo_plan* plan() const = 0;
  virtual bool halos_are_filled() const = 0;
  virtual void note_filled() const = 0;
  virtual void note_changed() const = 0;

  // Returns the cells that a member owns.
  program_part own(std::size_t member) const { return distribution().own(member); }
};

// Cells at a distance from those of an array: the operand of `shift`.
class shifted_operand : public team_operand {
 public:
  // Throws invalid_argument with the width that a halo needs, if one is too narrow. text: such as "{1, 0}".
  shifted_operand(std::shared_ptr<const sharded_operand> of, const axis_offsets& by, std::string text);
  const ferry::team& team() const override { return of_->team(); }
  const sharded_operand* array() const override { return of_.get(); }
  axis_offsets shift() const override { return by_; }
  std::string text() const override { return "shift(" + of_->text() + ", " + text_ + ")"; }
  program_operand elements(const program_part& p) const override;

 private:
  std::shared_ptr<const sharded_operand> of_;
  axis_offsets by_;
  std::string text_;
};

}  // namespace ferry::inline FERRY_ABI::detail
