#include "copy_workers.hpp"

#include <cstring>

#include "thread_affinity.hpp"

namespace ferry {

copy_workers::copy_workers(std::size_t threads, std::vector<int> near) : near_(std::move(near)) {
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // no more threads to be had: those there are do it
    if (threads_.empty()) throw;
  }
}

copy_workers::~copy_workers() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  given_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void copy_workers::start(job& j) {
  {
    std::lock_guard lock(mutex_);
    j.done = false;
    jobs_.push_back(&j);
  }
  given_.notify_one();
}

void copy_workers::wait(job& j) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return j.done; });
}

void copy_workers::work() {
  run_this_thread_on(near_);
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    job& j = *jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    std::memcpy(j.to, j.from, j.bytes);
    lock.lock();
    j.done = true;
    finished_.notify_all();
  }
}

}  // namespace ferry
