// Threads that submit work to devices, one for each device, so that submissions to several devices run concurrently.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A pool of workers, of which the caller is worker 0. After each call a worker spins for a while, because the next one
// usually follows within microseconds. Then it sleeps.
class submitters {
 public:
  // cores[i]: the cores of worker i; empty: any. cores[0] is ignored: the caller stays on its cores.
  explicit submitters(const std::vector<std::vector<int>>& cores);
  ~submitters();
  submitters(const submitters&) = delete;
  submitters& operator=(const submitters&) = delete;

  // Calls f(i) for each worker i concurrently, in the caller's scopes of pools, tags and devices. Returns when all
  // calls have returned. Rethrows the first exception. One caller at a time; a nested call runs on the thread that
  // makes it.
  void run(function_ref<void(std::size_t)> f);
  // True while a caller is in run().
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
  static void call(worker& w, std::size_t index, function_ref<void(std::size_t)> f);

  std::vector<worker> workers_;
  const function_ref<void(std::size_t)>* task_ = nullptr;
  alignas(64) std::atomic<unsigned> call_{0};
  std::atomic<unsigned> asleep_{0};
  std::atomic<bool> ending_{false}, running_{false};
  std::mutex mutex_, calling_;
  std::condition_variable wake_;
};

}  // namespace ferry::inline FERRY_ABI::detail
