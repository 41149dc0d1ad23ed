// Threads that give work to devices, one a device, so that submissions to several devices do not queue up.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ferry::detail {

// A pool of `count` workers, the caller being worker 0. A worker spins for a while after each call, because the next one
// usually follows within microseconds; then it sleeps.
class submitters {
 public:
  // cores[i]: where worker i runs; empty for anywhere, and the caller's own are not looked at.
  explicit submitters(const std::vector<std::vector<int>>& cores);
  ~submitters();
  submitters(const submitters&) = delete;
  submitters& operator=(const submitters&) = delete;

  // In the caller's scopes of pools, tags and devices, calls f(i) for each worker i at the same time, and returns when all have returned. One caller at a time; a call from
  // inside one runs on the thread that makes it.
  void run(const std::function<void(std::size_t)>& f);
  // Whether some caller is in run().
  bool is_running() const { return running_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) worker {
    std::atomic<unsigned> done{0};
    std::exception_ptr failure;
    std::thread thread;
  };
  void end();
  void loop(std::size_t index, const std::vector<int>& cores);
  unsigned next_call(unsigned last);
  static void call(worker& w, std::size_t index, const std::function<void(std::size_t)>& f);

  std::vector<worker> workers_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  alignas(64) std::atomic<unsigned> call_{0};
  std::atomic<unsigned> asleep_{0};
  std::atomic<bool> ending_{false}, running_{false};
  std::mutex mutex_, calling_;
  std::condition_variable wake_;
};

}  // namespace ferry::detail
