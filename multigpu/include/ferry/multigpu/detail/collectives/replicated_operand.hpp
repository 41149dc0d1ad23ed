// The copies of a replicated array as an operand of expressions.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/teams/team_operand.hpp"

namespace ferry::inline FERRY_ABI::detail {

class replicated_operand : public team_operand {
 public:
  // copies: of the local members.
  replicated_operand(ferry::team t, std::vector<program_operand> copies)
      : team_(std::move(t)),
        copies_(std::move(copies)) {}
  const ferry::team& team() const override { return team_; }
  std::string text() const override {
    const allocation_ref& owner = copies_.front().owner;
    const bool is_named = owner && !owner.is_freed() && !owner.unchecked()->name.empty();
    return is_named ? owner.unchecked()->name.get() : "replicated array";
  }
  program_operand elements(const program_part& p) const override {
    return sliced(copies_[p.member - team_.first_local()], p);
  }
  const std::vector<program_operand>& copies() const { return copies_; }

 private:
  ferry::team team_;
  std::vector<program_operand> copies_;
};

// True if the operand, of a replicated array, has the memory of these arrays.
template <class Arrays>
bool is_same_memory(const team_operand& o, const Arrays& all) {
  const auto& copies = static_cast<const replicated_operand&>(o).copies();
  for (std::size_t i = 0; i != all.size(); ++i)
    if (copies[i].data != reinterpret_cast<const std::byte*>(all[i].unsynchronized_data())) return false;
  return copies.size() == all.size();
}

}  // namespace ferry::inline FERRY_ABI::detail
