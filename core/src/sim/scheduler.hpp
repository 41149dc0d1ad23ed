// Queues of operations and their schedule: models all of CUDA's asynchrony on the calling threads.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"
#include "race_checker.hpp"
#include "stream_threads.hpp"
#include "support/fork_guard.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

struct queue;
class inspection;

// An occurrence that operations wait for: a record of an event, or a node of a launched graph.
struct signal {
  std::string who;  // for the text of a deadlock
  bool fired = false;
  std::chrono::steady_clock::time_point at{};
  std::uint64_t stream = 0, place = 0;  // for a record: its stream, and the number of records and frees before it
  vector_clock clock = {};              // its predecessors, if races are checked
  std::vector<std::weak_ptr<queue>> waiters = {};  // queues whose first operation needs it
};

struct operation {
  std::string_view verb, name;     // "kernel", "axpy"
  std::function<void()> run = {};  // may be empty
  std::vector<std::shared_ptr<signal>> needs = {};
  std::shared_ptr<signal> fires = {};
  // runs together with the other parts of the rendezvous, once all are first
  std::shared_ptr<rendezvous> together = {};
  std::shared_ptr<const footprint> touches = {};  // for the race checker
  vector_clock known = {};                        // the CPU's clock when it was enqueued
  std::function<inspection*()> inspects = {};     // bytes to check before and after it; called where it runs
};

// The work of a stream, or of one node of a launched graph.
struct queue : std::enable_shared_from_this<queue> {
  std::uint64_t id = 0;
  std::uint64_t number = 0;  // in order of creation
  std::list<std::shared_ptr<queue>>::iterator place;
  int device = 0;
  std::uint_fast32_t rank = 0;  // the lowest that can run is next
  bool busy = false;            // a thread runs an operation of it
  bool closed = false;          // removed when empty
  std::deque<operation> pending;
  std::size_t needs_met = 0;         // number of needs of the first operation that have fired
  bool ready = false;                // the first operation can run: listed by the scheduler
  std::shared_ptr<clock_line> line;  // null unless races are checked
  vector_clock clock, behind;        // of its latest operation; of further predecessors of later submissions
};

// A failure of a device during an operation; the scheduler makes it sticky.
struct device_fault : std::runtime_error {
  device_fault(int where, const std::string& text) : runtime_error(text), device(where) {}
  int device;
};

// Checks bytes that an operation must not change. Called with the scheduler's mutex held, while no operation runs.
class inspection {
 public:
  virtual void before() = 0;
  // Returns what is wrong, or "".
  virtual std::string after() const = 0;

 protected:
  ~inspection() = default;
};

// One mutex guards all members and the tables of the backend; it is released while operations run. A caller locks it by
// `enter`. Operations must not call ferry: enter() refuses that.
class scheduler {
 public:
  using lock = std::unique_lock<std::mutex>;

  explicit scheduler(const options& how);
  ~scheduler() { stop(); }
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  // Returns when no thread of this object runs operations. Operations that have not begun are dropped.
  void stop();
  bool is_eager() const { return kind_ == schedule_kind::eager; }
  bool overlaps() const { return kind_ == schedule_kind::overlap; }
  bool finds_races() const { return races_.has_value(); }

  // Throws invalid_argument inside an operation, where a driver permits no call.
  static void refuse_inside_operation();
  // Locks the mutex for one backend call; not inside an operation.
  lock enter();
  // Injects random delays to widen race windows (multi-threaded random schedules only). Takes no mutex.
  void inject_delay() const;

  // line: the clock line of a queue that this one's operations are ordered behind; null: a new line.
  std::shared_ptr<queue> open(const lock&, int device, std::uint64_t id, std::shared_ptr<clock_line> line = {});
  void close(const lock&, queue& q);  // pending operations still run

  void push(const lock&, queue& q, operation op);
  // For the eager schedule: runs `op` on this thread behind all of q. Throws device_error if it fails. Without op, only
  // waits for q. bytes: checked before and after op, unless another operation runs concurrently.
  void run_now(lock& l, queue& q, const std::function<void()>& op, const std::shared_ptr<const footprint>& touches = {},
               inspection* bytes = nullptr);
  // For the eager schedule: runs the rendezvous that is first in q if all parts have arrived.
  void hold_if_ready(lock& l, queue& q);
  // run_lazily: after submissions, runs some operations, with a frequency that the seed determines. run_few: runs a few
  // operations, while the program polls or allocates.
  void run_lazily(lock& l);
  void run_few(lock& l);
  // Runs operations in random order until done(). Throws deadlock if that cannot happen. If streams overlap, runs only
  // operations of `of`, the queue that done() depends on, unless another thread does.
  template <class Done>
  void wait(lock& l, std::string_view waiter, Done done, const std::shared_ptr<queue>& of = {}) {
    while (!done()) {
      if (overlaps())
        help(l, of.get()) ? void() : wait_for_threads(l, waiter);
      else if (!step_any(l))
        pause(l, waiter);
    }
    if (overlaps()) need_threads();
  }
  bool is_idle(const queue& q) const { return q.pending.empty() && !q.busy; }
  std::size_t pending() const;

  // For the race checker: ordering beyond the entries of queues.
  void stamp(const lock&, const queue& q, signal& s) const { s.clock = q.clock; }
  void order_behind(const lock&, queue& q, const signal& s) const { q.behind.join(s.clock); }
  std::shared_ptr<clock_line> new_line(const lock&) { return races_ ? races_->open() : nullptr; }
  void seen_by_cpu(const lock&, const vector_clock& what) {
    if (races_) races_->cpu.join(what);
  }
  // For an idle queue: all work that it contained or waited for.
  void seen_by_cpu(const lock& l, const queue& q) { seen_by_cpu(l, q.clock), seen_by_cpu(l, q.behind); }
  // Checks a CPU access for races. A race makes the device of the other access fail; returns that device, or -1.
  int touch_from_cpu(const lock& l, const std::shared_ptr<const footprint>& what);
  int refuse_in_use(const lock& l, const void* p, std::size_t bytes);
  void forget(const void* p, std::size_t bytes) {  // the caller holds the mutex
    if (races_) races_->forget(p, bytes);
  }

  // Makes an error sticky (the first one remains), and counts the device's work as complete.
  void fail(const lock&, int device, const std::string& text);
  void check(int device) const;  // throws device_error if the device failed
  bool has_failed(int device) const { return !failed_[static_cast<std::size_t>(device)].empty(); }
  void forget_failures(const lock&);

 private:
  // Queues whose first operation can run, by rank and order of creation: the first is next. And the threads that run
  // these operations; null unless streams overlap.
  struct ready_queues {
    std::map<std::pair<std::uint_fast32_t, std::uint64_t>, queue*> first;
    std::unique_ptr<stream_threads> threads;
  };
  ready_queues& ready_of(const queue& q) { return ready_[ready_.size() == 1 ? 0 : static_cast<std::size_t>(q.device)]; }
  bool step(lock& l, ready_queues& from);
  bool step_any(lock& l);
  void run_first(lock& l, queue& q);
  bool help(lock& l, queue* with);
  // Wakes or starts threads for all operations that can run. but_of: the caller runs these itself.
  void need_threads(const ready_queues* but_of = nullptr) {
    for (const ready_queues& r : ready_)
      if (r.threads && &r != but_of) r.threads->need(r.first.size());
  }
  void run_and_inspect(lock& l, queue& q, operation& op);
  void wait_for_threads(lock& l, std::string_view waiter);
  void announce();
  // True if no operation runs or will be run by a thread.
  bool is_stuck() const;
  bool is_random() const { return kind_ == schedule_kind::random; }
  void pause(lock& l, std::string_view waiter);
  void run(lock& l, queue& q, const std::function<void()>& op);
  void hold(lock& l, std::shared_ptr<rendezvous> m);  // by value: the entries that hold it are removed
  void sweep();
  void sweep(queue& q);
  void consider(queue& q);
  void consider_all();
  void list(queue& q);
  void unlist(queue& q);
  void took_first(queue& q) {
    q.pending.pop_front();
    q.needs_met = 0, --pending_;
  }
  bool someone_may_come() const;
  void fire(const queue& q, operation& op);
  vector_clock known_to_submissions(const queue& q) const;
  std::string arrive(queue& q, const operation& op);
  std::string describe() const;

  const schedule_kind kind_;
  std::optional<race_checker> races_;
  std::mutex mutex_;
  std::optional<fork_guard> unlocked_by_fork_;  // if threads run operations
  std::condition_variable changed_;
  std::mt19937_64 random_;
  std::uint64_t laziness_, until_redraw_ = 0;
  int running_ = 0;
  std::uint64_t begun_ = 0;  // operations that ran or are running
  std::uint_fast32_t listings_ = 0;
  std::atomic<std::uint64_t> changes_{0};  // number of announce()
  std::size_t pending_ = 0;
  std::list<std::shared_ptr<queue>> queues_;  // in order of creation: iteration must not depend on addresses
  bool are_bound_ = false;           // the threads of streams run on some cores only: other threads run no operations
  std::vector<ready_queues> ready_;  // all, or by device if their threads run on different cores
  std::map<const rendezvous*, std::vector<queue*>>
      gathered_;  // queues in a rendezvous that other parts have not reached
  std::uint64_t opened_ = 0;
  std::vector<std::string> failed_;  // error text by device; empty if it works
  std::atomic<const void*> first_thread_{nullptr};
  std::atomic<bool> many_threads_{false};
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
