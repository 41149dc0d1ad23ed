#include "team_link.hpp"

#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/multigpu/across_processes.hpp"
#include "processes.hpp"

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

namespace detail {

std::vector<std::byte> from_all_processes(const team&, std::span<const std::byte> mine, const char* what) {
  refuse_inside_submission(what);
  processes* const all = processes::world();
  if (!all)
    throw not_supported(std::string(what) +
                        ": the team spans processes that this program does not know: make it with "
                        "ferry::team::world()");
  return all->all_gather(mine, what);
}

}  // namespace detail
}  // namespace ferry
