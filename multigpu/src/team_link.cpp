#include "team_link.hpp"

namespace ferry {

detail::team_link& team::link() const {
  std::lock_guard lock(state_->linking);
  if (!state_->link) {
    auto l = std::make_shared<detail::team_link>();
    l->layout = {size(), first_local(), {}};
    for (const local_member& m : state_->members) {
      l->layout.members.push_back(m.own.where());
      l->streams.push_back(m.own);
    }
    l->carrier = state_->wire;
    state_->link = std::move(l);
  }
  return *state_->link;
}

}  // namespace ferry
