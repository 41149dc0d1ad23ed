#include "waiting_operations.hpp"

#include <algorithm>

namespace ferry {

// Of each stream only the first that is not over is asked: the later ones wait behind it.
void waiting_operations::look(clock::time_point now) {
  std::vector<const timeline*> busy;
  const auto is_busy = [&](const timeline* t) { return std::find(busy.begin(), busy.end(), t) != busy.end(); };
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto streams = at->progress->streams();
    const bool is_first = std::none_of(streams.begin(), streams.end(), is_busy);
    if (is_first && at->progress->is_over()) {
      at = pending_.erase(at);
      continue;
    }
    if (!is_first || !at->progress->has_begun())
      at->begun.reset();
    else if (!at->begun)
      at->begun = now;
    for (const timeline* t : streams)
      if (!is_busy(t)) busy.push_back(t);
    ++at;
  }
}

std::string waiting_operations::overdue(processes& all, clock::time_point now) {
  look(now);
  if (pending_.empty()) return {};
  const std::string who = "process " + std::to_string(all.rank()) + " waited";
  if (const auto gone = all.departed(); !gone.empty())
    for (const operation& o : pending_) {
      std::vector<std::size_t> missing;
      for (const processes::departure& d : gone)
        if (!o.needs.has(d.process, d.given)) missing.push_back(d.process);
      if (!missing.empty())
        return who + " in " + o.what + " for " + name_processes(missing) + ", which ended without taking part";
    }
  if (all.patience() == clock::duration{}) return {};
  for (const operation& o : pending_)
    if (o.begun && now - *o.begun >= all.patience())
      return who + " " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - *o.begun).count()) +
             " s in " + o.what + " (FERRY_COLLECTIVE_TIMEOUT sets the limit)";
  return {};
}

}  // namespace ferry
