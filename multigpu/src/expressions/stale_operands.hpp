// The shifted operands of programs whose halos must be exchanged before some cells can be computed.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ferry/core/detail/support/small_vector.hpp"
#include "ferry/multigpu/detail/shards/sharded_operand.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The cells of a member: those that can be computed during the exchange, and those before and after them along each
// axis of distribution.
struct evaluated_parts {
  program_part interior;
  small_vector<program_part, 4> edges{};
};

class stale_operands {
 public:
  void add(const expression_program& p);
  // As if all halos were out of date. Used to find the parts only; plans may be missing.
  void add_filled(const expression_program& p);
  // The plans, one for each array.
  std::span<halo_plan* const> plans() const { return plans_; }
  // The arrays, in the order of plans().
  std::span<const sharded_operand* const> arrays() const { return arrays_; }
  evaluated_parts parts_of(const sharded_operand& to, std::size_t member) const;
  void note_filled() const;

 private:
  void add(const team_operand& o, bool even_if_filled);
  std::vector<const sharded_operand*> arrays_;
  std::vector<halo_plan*> plans_;
  std::array<std::size_t, max_rank> low_{}, high_{};  // greatest distances along each axis
  std::array<bool, max_rank> is_periodic_{};          // true: an array is periodic along that axis
};

}  // namespace ferry::inline FERRY_ABI::detail
