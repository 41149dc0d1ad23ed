#include "joint_submission.hpp"

namespace ferry::detail {

void joint_uses::assign(std::span<const collective_call> calls) {
  uses_.clear(), members_.clear();
  std::size_t members = 0;
  for (const collective_call& c : calls) members = std::max(members, c.member + 1);
  for (std::size_t place = 0; place < members; ++place) {
    const std::size_t begin = uses_.size();
    bool takes_part = false;
    for (const collective_call& c : calls) {
      if (c.member != place) continue;
      takes_part = true;
      if (c.from.owner) uses_.push_back({c.from.owner, c.from.range(), false});
      if (c.to.owner) uses_.push_back({c.to.owner, c.to.range(), true});
    }
    if (takes_part) members_.push_back({place, begin, uses_.size()});
  }
}

}  // namespace ferry::detail
