// Threads that copy memory of the CPU. They access only the bytes of their jobs: no devices, no access histories.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/unique_lock.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

class copy_workers {
 public:
  // Several threads share a job, so that the first job completes soon.
  struct job {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    std::size_t begun = 0, copied = 0;  // guarded by the mutex
    bool done = true;
  };
  // near: the cores that the threads run on; empty: any. piece_bytes: bytes that one thread copies at a time.
  copy_workers(std::size_t threads, std::vector<int> near, std::size_t piece_bytes = std::size_t{512} << 10);
  // Ends the threads; no job may be pending.
  ~copy_workers();
  copy_workers(const copy_workers&) = delete;
  copy_workers& operator=(const copy_workers&) = delete;

  std::size_t size() const { return threads_.size(); }
  // Enqueues a job of at least one byte. The job must live until it is done.
  void start(job& j);
  // Blocks until the job is done. Returns immediately for a job that was never started.
  void wait(job& j);

 private:
  void work();
  void await_job(unique_lock& lock) FERRY_UNCHECKED_LOCKS;
  const std::vector<int> near_;
  const std::size_t piece_bytes_;
  mutex mutex_;
  std::condition_variable given_, finished_;
  std::deque<job*> jobs_ FERRY_GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};  // true if there are jobs; read by spinning threads
  std::size_t asleep_ FERRY_GUARDED_BY(mutex_) = 0;
  bool ending_ FERRY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::inline FERRY_ABI::detail
