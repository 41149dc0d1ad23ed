#include "ferry/multigpu/team.hpp"

#include <string>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/topology.hpp"
#include "ferry/multigpu/detail/teams/member_grid.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"
#include "teams/submitters.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

[[noreturn]] void refuse_member(std::size_t member, const team& t) {
  const std::string who = concat("member ", member, " of a team of ", t.size());
  if (member >= t.size()) throw invalid_argument(who + " does not exist");
  throw invalid_argument(who + " belongs to another process: only its own process has its device and stream; ask " +
                         "team::is_local(member)");
}

// Makes one thread for each local member, near its device. The caller is the first of them and stays on its cores.
std::shared_ptr<detail::submitters> a_thread_a_member(const team& t) {
  const topology here = topology::look();
  std::vector<std::vector<int>> cores;
  for (std::size_t i = 0; i < t.local_size(); ++i) cores.push_back(here.place(t.device(t.first_local() + i)).cores);
  return std::make_shared<submitters>(cores);
}

}  // namespace

team::team(std::span<const ferry::device> members) : team(members, 0, members.size(), nullptr) {}

team::team(std::span<const ferry::device> local, std::size_t first, std::size_t size, std::shared_ptr<transport> wire)
    : state_(std::make_shared<state>()) {
  if (local.empty()) throw invalid_argument("a team needs at least one device");
  if (first > size || local.size() > size - first)
    throw invalid_argument(
        concat("members ", first, " to ", first + local.size(), " (end excluded) of a team of ", size));
  for (std::size_t i = 0; i < local.size(); ++i) {
    (void)local[i].properties();
    for (std::size_t j = 0; j < i; ++j)
      if (local[j] == local[i])
        throw invalid_argument(concat("device ", local[i].index(), " is named twice in a team: use it once"));
    state_->members.push_back({ferry::stream(local[i]), ferry::stream(local[i], -1)});
  }
  state_->links = shared_links(local);
  state_->first = first;
  state_->size = size;
  state_->wire = std::move(wire);
}

team team::all() { return team(devices()); }

const team::local_member& team::local(std::size_t member) const {
  if (!is_local(member)) refuse_member(member, *this);
  return held().members[member - first_local()];
}

part team::part_of(std::size_t member, std::size_t count) const {
  if (member >= size()) refuse_member(member, *this);
  return detail::even_part(member, size(), count);
}

std::size_t team::member_of(std::size_t index, std::size_t count) const {
  if (index >= count) throw invalid_argument(concat("element ", index, " of ", count, " on a team"));
  return detail::even_part_with(index, size(), count);
}

void team::submit(submission how) {
  if (how == how_submitted()) return;
  if (held().threads && held().threads->is_running())
    throw invalid_argument(
        "team::submit inside a loop over the team, whose threads it would end: call it before the loop or after it");
  if (how == submission::by_caller) {
    held().threads = nullptr;
    return;
  }
  held().threads = a_thread_a_member(*this);
}

submission team::how_submitted() const { return held().threads ? submission::by_threads : submission::by_caller; }

void team::for_each(detail::function_ref<void(std::size_t member)> f) const {
  const std::size_t first = first_local();
  // Only the thread that began a capture can submit to it.
  if (held().threads && !this_thread_state.capture) return held().threads->run([&](std::size_t i) { f(first + i); });
  for (std::size_t i = 0; i < local_size(); ++i) f(first + i);
}

detail::submitters& team::waiting_threads() const {
  std::call_once(held().starting, [this] { held().waiting_threads = a_thread_a_member(*this); });
  return *held().waiting_threads;
}

void team::synchronize() const {
  for (const local_member& m : held().members) m.own.synchronize(), m.side.synchronize();
  if (wire()) wire()->check();
}

}  // namespace ferry::inline FERRY_ABI
