#include "transport/waiting_operations.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Queries only the first operation of each stream, and removes it if it is complete. Then the next one is the first.
// The others follow it on the stream.
template <class First, class Later>
void waiting_operations::each(First is_over, Later behind) {
  std::vector<const timeline*> busy;
  const auto is_busy = [&](const timeline* t) { return std::find(busy.begin(), busy.end(), t) != busy.end(); };
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto streams = at->progress->streams();
    if (std::any_of(streams.begin(), streams.end(), is_busy)) {
      behind(*at);
    } else if (is_over(*at)) {
      at = pending_.erase(at);
      continue;
    }
    for (const timeline* t : streams)
      if (!is_busy(t)) busy.push_back(t);
    ++at;
  }
}

void waiting_operations::forget_what_is_over() {
  each([](operation& o) { return o.progress->is_over(); }, [](operation&) {});
}

void waiting_operations::note_begun(clock::time_point now) {
  each(
      [now](operation& o) {
        if (!o.progress->has_begun())
          o.begun.reset();
        else if (!o.begun)
          o.begun = now;
        return false;
      },
      [](operation& o) { o.begun.reset(); });
}

std::string waiting_operations::overdue(processes& all, clock::time_point now) {
  if (pending_.empty()) return {};
  const std::string who = concat("process ", all.rank(), " waited");
  if (const auto gone = all.departed(); !gone.empty())
    for (const operation& o : pending_) {
      std::vector<std::size_t> missing;
      for (const processes::departure& d : gone)
        if (!o.needs.has(d.process, d.given)) missing.push_back(d.process);
      if (!missing.empty())
        return who + " in " + o.what + " for " + name_processes(missing) + ", which ended without taking part";
    }
  // Query completion only after the check above: a blocked NCCL call may hold a driver lock that event queries need.
  // Complete operations do not disturb that check: all processes have taken part in them.
  forget_what_is_over();
  if (all.patience() == clock::duration{}) return {};
  note_begun(now);
  for (const operation& o : pending_)
    if (o.begun && now - *o.begun >= all.patience())
      return concat(who, " ", std::chrono::duration_cast<std::chrono::seconds>(now - *o.begun).count(), " s in ",
                    o.what, " (FERRY_COLLECTIVE_TIMEOUT sets the limit)");
  return {};
}

}  // namespace ferry::inline FERRY_ABI::detail
