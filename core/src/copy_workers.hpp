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
  struct job {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    bool done = true;  // with the mutex held
  };
  // near: the cores that they run on; empty: any.
  copy_workers(std::size_t threads, std::vector<int> near);
  // Ends them; no job may be left.
  ~copy_workers();
  copy_workers(const copy_workers&) = delete;
  copy_workers& operator=(const copy_workers&) = delete;

  std::size_t size() const { return threads_.size(); }
  // The job must live until it is done.
  void start(job& j);
  // Blocks until the job is done; at once for one that was never started.
  void wait(job& j);

 private:
  void work();
  const std::vector<int> near_;
  std::mutex mutex_;
  std::condition_variable given_, finished_;
  std::deque<job*> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry
