// Looks after collectives that wait for other processes: a kernel of NCCL waits for ever, and nobody can throw there.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "communicators.hpp"
#include "processes.hpp"

namespace ferry::nccl {

// A thread that ends all work that waits, and says why on stderr, when another process fails or ends, NCCL reports an
// error, or an operation takes longer than FERRY_COLLECTIVE_TIMEOUT. Where NCCL cannot be ended, because a call of it waits for
// the others or graphs hold on to it, all processes end.
class watch {
 public:
  // Guards `comms` by `mutex`.
  watch(communicators& comms, std::timed_mutex& mutex, processes& all);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  // From now on the operation that `on` was given last is waited for.
  void submitted(timeline& on, std::string what);
  // From now on graphs hold on to the communicators, which NCCL does not end then.
  void captured() { captured_.store(true, std::memory_order_relaxed); }

 private:
  struct operation {
    timeline* on;
    ticket at;
    std::chrono::steady_clock::time_point since;
    std::string what;
  };
  void run();
  std::string trouble();
  std::string overdue();

  communicators& comms_;
  std::timed_mutex& mutex_;
  processes& all_;
  std::deque<operation> waiting_;
  std::mutex own_;  // waiting_, stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> captured_{false};
  std::thread thread_;
};

}  // namespace ferry::nccl
