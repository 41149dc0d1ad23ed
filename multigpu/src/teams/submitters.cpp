#include "teams/submitters.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "ferry/core/detail/memory/thread_scopes.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/spin.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr auto patience = std::chrono::microseconds(200);

// Set in workers, and in callers during their calls.
thread_local bool inside = false;

// Spins until ready(), at most for `patience`. Yields, so that other workers can run on a machine with fewer cores than
// workers. False after a timeout.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (int i = 1; !ready(); ++i) {
    relax_cpu();
    if (i % 64) continue;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

submitters::submitters(const std::vector<std::vector<int>>& cores) : workers_(cores.size()) {
  try {
    for (std::size_t i = 1; i < cores.size(); ++i)
      workers_[i].thread = std::thread([this, i, near = cores[i]] { loop(i, near); });
  } catch (...) {  // no more threads can be started
    end();
    throw;
  }
}

submitters::~submitters() { end(); }

void submitters::end() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (worker& w : workers_)
    if (w.thread.joinable()) w.thread.join();
}

void submitters::call(worker& w, std::size_t index, function_ref<void(std::size_t)> f) {
  const bool was_inside = std::exchange(inside, true);
  try {
    f(index);
  } catch (...) {
    w.failure = std::current_exception();
  }
  inside = was_inside;
}

void submitters::run(function_ref<void(std::size_t)> f) {
  if (inside || workers_.size() == 1) {
    for (std::size_t i = 0; i < workers_.size(); ++i) f(i);
    return;
  }
  refuse_inside_submission("submit by threads");  // the workers could not detect that
  std::lock_guard one_caller(calling_);
  struct running {
    std::atomic<bool>& is;
    explicit running(std::atomic<bool>& r) : is(r) { is.store(true, std::memory_order_relaxed); }
    ~running() { is.store(false, std::memory_order_relaxed); }
  } const until_all_returned(running_);
  const thread_scopes scopes;
  const auto as_caller = [&](std::size_t i) {
    const thread_scopes::use here(scopes);
    f(i);
  };
  const function_ref<void(std::size_t)> task = as_caller;
  task_ = &task;
  const unsigned number = call_.load(std::memory_order_relaxed) + 1;
  call_.store(number);  // before asleep_ is read: a worker increments asleep_ before it reads call_
  if (asleep_.load() > 0) {
    std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  call(workers_[0], 0, f);
  for (std::size_t i = 1; i < workers_.size(); ++i)
    while (!spin_until([&] { return workers_[i].done.load(std::memory_order_acquire) == number; }))
      std::this_thread::sleep_for(patience / 2);  // a long call, such as a copy
  std::exception_ptr first;
  for (worker& w : workers_)
    if (auto failure = std::exchange(w.failure, nullptr); failure && !first) first = failure;
  if (first) std::rethrow_exception(first);
}

unsigned submitters::next_call(unsigned last) {
  const auto called = [&] { return call_.load() != last || ending_.load(); };
  if (!spin_until(called)) {
    std::unique_lock lock(mutex_);
    ++asleep_;
    wake_.wait(lock, called);
    --asleep_;
  }
  return call_.load();
}

void submitters::loop(std::size_t index, const std::vector<int>& cores) {
  if (!cores.empty()) run_this_thread_on(cores);
  for (unsigned last = 0;;) {
    const unsigned number = next_call(last);
    if (number == last) return;  // ending
    call(workers_[index], index, *task_);
    workers_[index].done.store(number, std::memory_order_release);
    last = number;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
