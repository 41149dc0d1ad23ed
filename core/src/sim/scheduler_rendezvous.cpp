// Joint operations of several queues.
#include <algorithm>
#include <utility>

#include "scheduler.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// True if a stream waits in a rendezvous that other threads may still reach.
bool scheduler::someone_may_come() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& q) {
    return !q->pending.empty() && q->pending.front().together && q->pending.front().together->broken.empty();
  });
}

// Runs all parts of a rendezvous together. If it can never complete, fails the parts that wait for it.
void scheduler::hold(lock& l, std::shared_ptr<rendezvous> m) {
  std::vector<std::shared_ptr<queue>> present;
  if (m->broken.empty()) {
    for (queue* q : gathered_.at(m.get())) present.push_back(q->shared_from_this());
    std::sort(present.begin(), present.end(), [](const auto& p, const auto& q) { return p->number < q->number; });
  } else {
    for (const auto& q : queues_)
      if (!q->busy && !q->pending.empty() && q->pending.front().together == m) present.push_back(q);
  }
  std::vector<operation> parts;
  gathered_.erase(m.get());
  for (const auto& q : present) {
    unlist(*q);
    parts.push_back(std::move(q->pending.front()));
    took_first(*q), q->busy = true;
  }
  vector_clock joint;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const std::string race = arrive(*present[i], parts[i]);
    if (m->broken.empty()) m->broken = race;
    joint.join(present[i]->clock);
  }
  for (const auto& q : present) q->clock.join(joint);
  need_threads();
  if (m->broken.empty()) {
    const auto all = [&] {
      for (const operation& part : parts) part.run();
      m->body();
    };
    run(l, *present.front(), all);
    if (const std::string& text = failed_[static_cast<std::size_t>(present.front()->device)]; !text.empty())
      m->broken = text;
  }
  for (const auto& q : present) q->busy = false, consider(*q);
  for (std::size_t i = 0; i < parts.size(); ++i) fire(*present[i], parts[i]);
  if (!m->broken.empty())
    for (const auto& q : present) fail(l, q->device, m->name + " cannot end: " + m->broken);
  need_threads();
  for (const auto& q : present) sweep(*q);
  announce();
}

void scheduler::hold_if_ready(lock& l, queue& q) {
  if (q.ready) hold(l, q.pending.front().together);
  check(q.device);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
