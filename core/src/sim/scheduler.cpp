#include "scheduler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

thread_local bool inside_operation = false;
thread_local char this_thread_mark;  // its address identifies the thread

struct inside_scope {
  inside_scope() { inside_operation = true; }
  ~inside_scope() { inside_operation = false; }
};

}  // namespace

scheduler::scheduler(const options& how)
    : kind_(how.schedule),
      random_(how.seed),
      failed_(static_cast<std::size_t>(how.devices)) {
  if (how.check_races) races_.emplace();
  if (overlaps()) unlocked_by_fork_.emplace(mutex_);
  laziness_ = std::array<std::uint64_t, 4>{1, 2, 8, 1000}[random_() % 4];
  ready_ = std::vector<ready_queues>(std::max<std::size_t>(how.nodes.size(), 1));
  for (std::size_t k = 0; overlaps() && k != ready_.size(); ++k) {
    const bool is_bound = !how.nodes.empty() && how.nodes[k].can_bind;
    are_bound_ = are_bound_ || is_bound;
    ready_[k].threads = std::make_unique<stream_threads>(mutex_, is_bound ? how.nodes[k].cores : std::vector<int>(),
                                                         [this, k](lock& l) { return step(l, ready_[k]); });
  }
}

void scheduler::stop() {
  for (ready_queues& r : ready_)
    if (r.threads && r.threads->is_forked()) static_cast<void>(r.threads.release());
  for (const ready_queues& r : ready_)
    if (r.threads) r.threads->end();  // they use these objects until they end
}

bool scheduler::is_stuck() const {
  return running_ == 0 && (!overlaps() || std::all_of(ready_.begin(), ready_.end(),
                                                      [](const ready_queues& r) { return r.first.empty(); }));
}

// Wakes threads that wait for a signal, or for the end of a queue.
void scheduler::announce() {
  changes_.fetch_add(1, std::memory_order_relaxed);
  changed_.notify_all();
}

void scheduler::refuse_inside_operation() {
  if (inside_operation)
    throw invalid_argument("operation not permitted: kernels and host tasks may not call ferry; submit from outside");
}

scheduler::lock scheduler::enter() {
  refuse_inside_operation();
  const void* expected = nullptr;
  if (!first_thread_.compare_exchange_strong(expected, &this_thread_mark) && expected != &this_thread_mark)
    many_threads_ = true;
  return lock(mutex_);
}

void scheduler::inject_delay() const {
  if (!is_random() || !many_threads_.load(std::memory_order_relaxed)) return;
  using clock = std::chrono::steady_clock;
  thread_local std::minstd_rand dice(std::random_device{}());
  thread_local clock::time_point next;
  const auto x = dice() % 64;
  if (x > 12) return;
  const auto start = clock::now();
  if (start < next) return;
  if (x < 12)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(30));
  // If other processes use the cores, each delay can last a whole time slice. So delays take at most half of the time.
  const auto end = clock::now();
  next = end + (end - start);
}

// Runs op with the mutex released. An exception becomes the device's sticky error.
void scheduler::run(lock& l, queue& q, const std::function<void()>& op) {
  q.busy = true, ++running_, ++begun_;
  int device = q.device;
  std::string text;
  l.unlock();
  try {
    inside_scope in;
    op();
  } catch (const device_fault& e) {
    device = e.device, text = plain_what(e);
  } catch (const std::exception& e) {
    text = plain_what(e);
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  l.lock();
  q.busy = false, --running_;
  if (!text.empty()) fail(l, device, text);
  consider(q);
  if (!overlaps()) announce();
}

// Runs op, and checks the bytes that it names, unless another operation runs concurrently.
void scheduler::run_and_inspect(lock& l, queue& q, operation& op) {
  inspection* const bytes = op.inspects && running_ == 0 ? op.inspects() : nullptr;
  if (bytes) bytes->before();
  const std::uint64_t mine = begun_ + 1;
  run(l, q, op.run);
  if (!bytes || begun_ != mine || has_failed(q.device)) return;
  if (const std::string why = bytes->after(); !why.empty()) fail(l, q.device, why);
}

void scheduler::run_now(lock& l, queue& q, const std::function<void()>& op,
                        const std::shared_ptr<const footprint>& touches, inspection* bytes) {
  while (q.busy || !q.pending.empty()) {
    if (q.busy)
      changed_.wait(l);
    else
      pause(l, concat("stream ", q.id, ", which waits in a joint operation"));
  }
  check(q.device);
  if (races_) {
    operation now;
    now.touches = touches;
    now.known = known_to_submissions(q);
    if (const std::string race = arrive(q, now); !race.empty()) fail(l, q.device, race);
    check(q.device);
  }
  if (running_ != 0) bytes = nullptr;
  if (bytes) bytes->before();
  const std::uint64_t mine = begun_ + 1;
  if (op) run(l, q, op);
  check(q.device);
  if (!bytes || begun_ != mine) return;
  if (const std::string why = bytes->after(); !why.empty()) fail(l, q.device, why);
  check(q.device);
}

// Runs an operation of the first queues that have one.
bool scheduler::step_any(lock& l) {
  return std::any_of(ready_.begin(), ready_.end(), [&](ready_queues& r) { return step(l, r); });
}

bool scheduler::step(lock& l, ready_queues& from) {
  if (is_random() && until_redraw_-- == 0) {  // draws few numbers per step, regardless of the number of queues
    until_redraw_ = std::max<std::uint64_t>(64 + random_() % 193, queues_.size() / 4);
    const auto listed = std::exchange(from.first, {});
    for (const auto& q : queues_) q->rank = static_cast<std::uint_fast32_t>(random_() >> 32);
    for (const auto& [rank, q] : listed) from.first.emplace(std::pair{q->rank, q->number}, q);
  }
  if (from.first.empty()) return false;
  run_first(l, *from.first.begin()->second);
  need_threads(&from);
  return true;
}

// Runs the first operation of q, which can run.
void scheduler::run_first(lock& l, queue& q) {
  const auto best = q.shared_from_this();  // it may be closed and swept while it runs
  if (best->pending.front().together) return hold(l, best->pending.front().together);
  unlist(*best);
  operation op = std::move(best->pending.front());
  took_first(*best);
  need_threads();
  if (const std::string race = arrive(*best, op); !race.empty())
    fail(l, best->device, race);
  else if (op.run)
    run_and_inspect(l, *best, op);
  fire(*best, op);
  consider(*best);
  sweep(*best);
  if (!overlaps() || op.fires || is_idle(*best) || is_stuck()) announce();
}

// A thread that waits for a queue runs its operations, which is faster than another thread. Returns false if it cannot.
bool scheduler::help(lock& l, queue* with) {
  if (!with || !with->ready || are_bound_ || with->pending.front().together) return false;
  run_first(l, *with);
  const bool is_next_mine = with->ready && !with->pending.front().together;
  for (const ready_queues& r : ready_)
    r.threads->need(r.first.size() - (is_next_mine && &r == &ready_of(*with) ? 1 : 0));
  return true;
}

void scheduler::run_lazily(lock& l) {
  if (!is_random() || random_() % laziness_ != 0) return;
  run_few(l);
}

void scheduler::run_few(lock& l) {
  if (!is_random()) return;
  for (auto k = random_() % 4; k > 0; --k)
    if (!step_any(l)) {
      // Submissions wait only for earlier ones (R17), so one of the pending operations can always run.
      if (pending_ != 0 && running_ == 0 && !someone_may_come())
        throw error("internal error: no pending operation can run\n" + describe());
      return;
    }
}

void scheduler::pause(lock& l, std::string_view waiter) {
  // Waits for threads that have not yet enqueued their part of a rendezvous, or have not started yet.
  const std::chrono::milliseconds patience{many_threads_.load(std::memory_order_relaxed) ? 10000 : 200};
  if (is_stuck() && someone_may_come() && changed_.wait_for(l, patience) == std::cv_status::no_timeout) return;
  if (is_stuck())
    throw deadlock(concat("deadlock: the CPU waits for ", waiter, ", and no operation can run\n", describe()));
  changed_.wait(l);
}

// Waits until an operation has ended that a thread may wait for.
void scheduler::wait_for_threads(lock& l, std::string_view waiter) {
  for (ready_queues& r : ready_)
    if (r.threads->are_missing() && step(l, r)) return;
  if (is_stuck()) return pause(l, waiter);
  const std::uint64_t seen = changes_.load(std::memory_order_relaxed);
  l.unlock();
  const auto has_changed = [&] { return changes_.load(std::memory_order_relaxed) != seen; };
  look_for(has_changed);
  l.lock();
  if (!has_changed()) changed_.wait(l);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
