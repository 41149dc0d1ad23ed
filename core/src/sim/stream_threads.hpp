// Threads that run the operations of streams, so that they overlap with each other and with the program.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/spin.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// Threads are started when operations can run and no other thread is free, at most `most`. An operation may wait for
// another one, such as a host task for that of another stream, so each operation that can run needs a thread.
class stream_threads {
 public:
  static constexpr std::size_t most = 64;
  using lock = std::unique_lock<std::mutex>;

  // run_one: runs an operation with the lock released, and returns false if none can run. Called with the lock held.
  // cores: on which the threads run; empty: on all.
  stream_threads(std::mutex& mutex, std::vector<int> cores, std::function<bool(lock&)> run_one);
  ~stream_threads() { end(); }
  stream_threads(const stream_threads&) = delete;
  stream_threads& operator=(const stream_threads&) = delete;

  // Ends the threads behind the operations that they run. Others are not begun.
  void end();
  // Wakes or starts threads for `ready` operations that can run. The caller holds the mutex.
  void need(std::size_t ready);
  // True if no thread runs operations: the system allows none, or this is a child process of fork(), which has no copy
  // of them. The caller holds the mutex.
  bool are_missing() const { return threads_.empty() || is_forked(); }
  // In a child process this object can only be leaked.
  bool is_forked() const;

 private:
  void serve();
  bool rest(lock& l);

  std::mutex& mutex_;
  const std::vector<int> cores_;
  const std::function<bool(lock&)> run_one_;
  const pid_t process_;
  std::atomic<std::size_t> ready_{0};
  std::atomic<bool> is_ending_{false};
  std::condition_variable work_;
  // The mutex guards these: threads that look for work, that sleep, and that were woken or started and do not look yet.
  std::size_t looking_ = 0, sleeping_ = 0, coming_ = 0;
  std::vector<std::thread> threads_;
};

// Returns when done(), or after a short time: then the caller sleeps. Now and then gives way, because the other thread
// may wait for the core of this one.
template <class Done>
void look_for(const Done& done) {
  for (int k = 0; k != spins_before_sleep && !done(); ++k) k % 64 != 63 ? relax_cpu() : std::this_thread::yield();
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
