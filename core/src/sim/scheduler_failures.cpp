// Races that the scheduler finds, and failures of devices.
#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "scheduler.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

vector_clock scheduler::known_to_submissions(const queue& q) const {
  vector_clock known = races_->cpu;
  known.join(q.behind);
  return known;
}

// Advances q's clock to its next operation. Returns a description of the races of its accesses, or "".
std::string scheduler::arrive(queue& q, const operation& op) {
  if (!races_) return {};
  q.clock.join(op.known);
  for (const auto& s : op.needs) q.clock.join(s->clock);
  const std::uint64_t tick = ++q.line->tick;
  q.clock.set(q.line->index, tick);
  return op.touches ? races_->touch({q.line->index, tick, op.touches, q.id, q.device}, q.clock).text : std::string();
}

int scheduler::touch_from_cpu(const lock& l, const std::shared_ptr<const footprint>& what) {
  const race_checker::finding found = races_->touch_from_cpu(what);
  if (found.text.empty()) return -1;
  fail(l, found.device, found.text);
  return found.device;
}

// The release is an access, too: it races with work that was enqueued before and runs later.
int scheduler::refuse_in_use(const lock& l, const void* p, std::size_t bytes) {
  if (!races_ || bytes == 0) return -1;
  const auto found = races_->release(p, bytes, [&](int device) { return device >= 0 && !has_failed(device); });
  races_->forget(p, bytes);
  const kernel_use all{static_cast<const std::byte*>(p), bytes, false, true};
  (void)races_->touch_from_cpu(std::make_shared<const footprint>(footprint{"release", {}, {all}}));
  if (found.text.empty()) return -1;
  fail(l, found.device, found.text);
  return found.device;
}

void scheduler::fail(const lock&, int device, const std::string& text) {
  std::string& sticky = failed_[static_cast<std::size_t>(device)];
  if (sticky.empty()) sticky = concat("device ", device, " failed, and answers every call with this: ", text);
  for (const auto& q : queues_) {
    if (q->device != device) continue;
    if (races_) races_->cpu.join(q->clock);  // work of the failed device counts as complete
    for (operation& op : q->pending) {
      fire(*q, op);
      if (op.together && op.together->broken.empty()) op.together->broken = concat("device ", device, " failed");
    }
    pending_ -= q->pending.size();
    q->pending.clear(), q->needs_met = 0;
  }
  consider_all();
  sweep();
  need_threads();
  announce();
}

void scheduler::check(int device) const {
  const std::string& text = failed_[static_cast<std::size_t>(device)];
  if (!text.empty()) throw device_error(text);
}

void scheduler::forget_failures(const lock&) { std::fill(failed_.begin(), failed_.end(), std::string{}); }

}  // namespace ferry::inline FERRY_ABI::detail::sim
