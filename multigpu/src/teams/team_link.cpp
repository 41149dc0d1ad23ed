#include "teams/team_link.hpp"

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

detail::team_link& team::link() const {
  std::call_once(held().linking, [&] {
    auto l = std::make_shared<team_link>();
    l->layout = {size(), first_local(), {}};
    for (const local_member& m : held().members) {
      l->layout.members.push_back(m.own.where());
      l->streams.push_back(m.own);
    }
    l->carrier = held().wire;
    held().link = std::move(l);
  });
  return *held().link;
}

void detail::team_link::refuse_first_in_capture() {
  if (this_thread_state.capture)
    throw invalid_argument(
        "a team's first collective inside a capture: it sets up what carries all of them, which is no work of a graph. "
        "Submit one before ferry::capture");
}

}  // namespace ferry::inline FERRY_ABI
