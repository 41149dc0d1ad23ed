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

// True if a stream waits in a rendezvous that other threads may still reach.
bool scheduler::someone_may_come() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& q) {
    return !q->pending.empty() && q->pending.front().together && q->pending.front().together->broken.empty();
  });
}

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

void scheduler::fire(const queue& q, operation& op) {
  if (!op.fires) return;
  op.fires->clock = q.clock;
  op.fires->at = std::chrono::steady_clock::now();
  op.fires->fired = true;
  for (const auto& w : std::exchange(op.fires->waiters, {}))
    if (const auto waiting = w.lock()) consider(*waiting);
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
