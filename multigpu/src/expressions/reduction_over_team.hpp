// A reduction of expressions over sharded arrays along axes: what each member computes, and how the results are joined.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "expressions/member_parts.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"

namespace ferry::inline FERRY_ABI::detail {

// What programs are made for: with `compile`, results that they read are not computed.
enum class purpose : std::uint8_t { run, compile };

class reduction_over_team {
 public:
  // Refers to r. Throws invalid_argument if distributions or teams do not fit, and for the least or greatest of no
  // elements.
  explicit reduction_over_team(const axes_reduction& r);
  const axes_reduction& request() const { return r_; }
  const team& members() const { return team_; }
  const sharded_operand& array() const { return array_; }
  // True if each member has a part of the result: axes of distribution are kept.
  bool is_cut() const { return kept_cuts_ != 0; }
  // True if members join results: axes of distribution are reduced. If others are kept, members with the same part
  // join.
  bool is_joined() const { return kept_cuts_ != distribution_.grid.cuts(); }
  // Returns the parts of the result, if is_cut().
  cut_shape cut() const;
  // True for argmin and argmax.
  bool is_position() const;
  // True for mean, var and std: see finished().
  bool is_computed_from_sums() const;

  // Allocates memory for the result of each local member.
  each_member room() const;
  // True if each member can write its part directly to its cells of the array: the distributions fit, and no operand
  // reads the cells.
  bool can_write(const sharded_operand& to) const;
  each_member cells_of(const sharded_operand& to) const;
  // Submits the reduction to memory of each local member.
  void run(const each_member& to) const;

  // What each member computes of its own cells, before the results are joined: one, or a position and the value there.
  // For var and std, computes the mean first.
  std::vector<reduction_program> parts(purpose why = purpose::run) const;
  // Compiles the kernels of run(), without those that join results. Blocks until that is done. Returns false if nothing
  // can be compiled.
  bool precompile() const;
  // The same for the mean that parts() computes.
  bool precompile_mean() const;
  // Joins the results of all members in memory of member m. parts: those of parts().
  void join_for(std::size_t m, const program_operand& to, std::span<const member_parts> parts) const;
  // Returns the program that computes the result from the sum of all members; for a total, from each member's sum.
  expression_program finished(expression_program sum) const;

 private:
  std::size_t first() const { return team_.first_local(); }
  bool is_over_nothing() const;
  // Returns the number of axes of distribution that are kept.
  std::size_t count_kept_cuts() const;
  // Returns the shape of the result of a member.
  program_shape part_shape(std::size_t m) const { return is_cut() ? cut().own(m).shape : r_.shape(); }
  // True if two members have the same part of the result, and the second one has elements.
  bool joins(std::size_t m, std::size_t member) const;
  double count() const;
  program_operand room_of(std::size_t m) const;
  axes_reduction mean() const;
  expression_program squared_distances(purpose why) const;
  void join(const each_member& to) const;

  const axes_reduction& r_;
  const team& team_;
  const sharded_operand& array_;
  const shard_distribution distribution_;
  std::size_t kept_cuts_;
  mutable std::shared_ptr<const team_operand> mean_;
};

// Submits reductions of the cells that a member owns, in one pass. to: the memory for each result.
void reduce_cells(const sharded_operand& array, std::size_t member, std::span<const reduction_program> all,
                  std::span<const program_operand> to);
// Compiles the kernels of reduce_cells() for all local members. Blocks until that is done. Returns false if nothing can
// be compiled.
bool precompile_cells(const sharded_operand& array, std::span<const reduction_program> all);

}  // namespace ferry::inline FERRY_ABI::detail
