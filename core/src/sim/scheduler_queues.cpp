// The queues of the scheduler: their operations, and the list of those whose first operation can run.
#include <algorithm>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "scheduler.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

std::shared_ptr<queue> scheduler::open(const lock& l, int device, std::uint64_t id, std::shared_ptr<clock_line> line) {
  auto q = std::make_shared<queue>();
  q->id = id, q->device = device;
  if (is_random()) q->rank = static_cast<std::uint_fast32_t>(random_() >> 32);
  q->line = line ? std::move(line) : new_line(l);
  q->number = ++opened_;
  q->place = queues_.insert(queues_.end(), q);
  return q;
}

void scheduler::close(const lock&, queue& q) {
  q.closed = true;
  sweep(q);
}

void scheduler::sweep() {
  std::erase_if(queues_, [&](const auto& q) {
    const bool over = q->closed && is_idle(*q);
    if (over) q->place = queues_.end();
    return over;
  });
}
// The caller holds a reference to q.
void scheduler::sweep(queue& q) {
  if (q.closed && is_idle(q) && q.place != queues_.end()) queues_.erase(std::exchange(q.place, queues_.end()));
}

void scheduler::push(const lock& l, queue& q, operation op) {
  if (races_) op.known = known_to_submissions(q);
  const auto has_fired = [](const auto& s) { return s->fired; };
  if (overlaps() && is_idle(q) && !op.run && !op.together && std::all_of(op.needs.begin(), op.needs.end(), has_fired)) {
    if (const std::string race = arrive(q, op); !race.empty()) fail(l, q.device, race);
    return fire(q, op);
  }
  const bool is_part = op.together != nullptr;
  q.pending.push_back(std::move(op));
  ++pending_;
  if (q.pending.size() == 1) consider(q);
  need_threads();
  if (is_part || !overlaps()) announce();  // a thread may wait for it in a rendezvous
}

void scheduler::list(queue& q) {
  if (q.ready) return;
  q.ready = true;
  if (overlaps()) q.rank = ++listings_;  // the first come is the first to run
  ready_of(q).first.emplace(std::pair{q.rank, q.number}, &q);
}
void scheduler::unlist(queue& q) {
  if (std::exchange(q.ready, false)) ready_of(q).first.erase({q.rank, q.number});
}

// Lists the queue if its first operation can run now. Otherwise the queue is considered again when a needed signal
// fires, other queues reach the same rendezvous, or it is not busy any more.
void scheduler::consider(queue& q) {
  if (q.busy || q.pending.empty()) return;
  const operation& head = q.pending.front();
  for (; q.needs_met < head.needs.size(); ++q.needs_met)
    if (signal& s = *head.needs[q.needs_met]; !s.fired) {
      s.waiters.push_back(q.weak_from_this());
      return;
    }
  if (!head.together || !head.together->broken.empty()) return list(q);
  std::vector<queue*>& here = gathered_[head.together.get()];
  if (std::find(here.begin(), here.end(), &q) == here.end()) here.push_back(&q);
  if (here.size() >= head.together->streams)
    for (queue* other : here) list(*other);
}

// Called after a failure, which ends operations anywhere in their queues.
void scheduler::consider_all() {
  for (const auto& q : queues_) unlist(*q);
  gathered_.clear();
  for (const auto& q : queues_) consider(*q);
}

void scheduler::fire(const queue& q, operation& op) {
  if (!op.fires) return;
  op.fires->clock = q.clock;
  op.fires->at = std::chrono::steady_clock::now();
  op.fires->fired = true;
  for (const auto& w : std::exchange(op.fires->waiters, {}))
    if (const auto waiting = w.lock()) consider(*waiting);
}

std::size_t scheduler::pending() const {
  return pending_ +
         static_cast<std::size_t>(std::count_if(queues_.begin(), queues_.end(), [](const auto& q) { return q->busy; }));
}

std::string scheduler::describe() const {
  std::string text;
  for (const auto& q : queues_) {
    if (q->pending.empty()) continue;
    const operation& head = q->pending.front();
    text +=
        concat("  stream ", q->id, " (device ", q->device, "): ", q->pending.size(), " pending, first: ", head.verb);
    if (!head.name.empty()) text += concat(" '", head.name, "'");
    for (const auto& s : head.needs)
      if (!s->fired) text += ", waits for " + s->who;
    if (head.together) text += concat(" of ", head.together->streams, " streams, which others have not reached");
    text += '\n';
  }
  return text;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
