// Threads that copy memory of the CPU. They touch nothing but the bytes they are told: no devices, no logs.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace ferry {

class copy_workers {
 public:
  // Several threads share a job, so that the first one is done soon.
  struct job {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    std::size_t begun = 0, copied = 0;  // with the mutex held
    bool done = true;
  };
  // near: the cores that they run on; empty: any. piece_bytes: what one thread takes at a time.
  copy_workers(std::size_t threads, std::vector<int> near, std::size_t piece_bytes = std::size_t{512} << 10);
  // Ends them; no job may be left.
  ~copy_workers();
  copy_workers(const copy_workers&) = delete;
  copy_workers& operator=(const copy_workers&) = delete;

  std::size_t size() const { return threads_.size(); }
  // At least one byte. The job must live until it is done.
  void start(job& j);
  // Blocks until the job is done; at once for one that was never started.
  void wait(job& j);

 private:
  void work();
  void await_job(std::unique_lock<std::mutex>& lock);
  const std::vector<int> near_;
  const std::size_t piece_bytes_;
  std::mutex mutex_;
  std::condition_variable given_, finished_;
  std::deque<job*> jobs_;
  std::atomic<bool> any_{false};  // whether there are jobs, for those who spin
  std::size_t asleep_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry
