#include "stream_threads.hpp"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "ferry/core/detail/support/thread_affinity.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

stream_threads::stream_threads(std::mutex& mutex, std::vector<int> cores, std::function<bool(lock&)> run_one)
    : mutex_(mutex),
      cores_(std::move(cores)),
      run_one_(std::move(run_one)),
      process_(::getpid()) {}

void stream_threads::end() {
  {
    const lock l(mutex_);
    is_ending_ = true;
    work_.notify_all();
  }
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

bool stream_threads::is_forked() const { return ::getpid() != process_; }

void stream_threads::need(std::size_t ready) {
  ready_.store(ready, std::memory_order_relaxed);
  for (; looking_ + coming_ < ready; ++coming_) {
    if (sleeping_ > coming_) {
      work_.notify_one();
      continue;
    }
    if (threads_.size() == most || is_ending_) return;
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // the system allows no more threads
      return;
    }
  }
}

void stream_threads::serve() {
  if (!cores_.empty()) run_this_thread_on(cores_);
  lock l(mutex_);
  --coming_;
  do {
    while (!is_ending_ && run_one_(l)) {
    }
  } while (rest(l));
}

// Returns when an operation can run. Returns false at the end.
bool stream_threads::rest(lock& l) {
  const auto is_needed = [&] { return ready_.load(std::memory_order_relaxed) != 0 || is_ending_; };
  if (looking_ == 0) {  // the others sleep, so that they leave their cores to kernels
    ++looking_;
    l.unlock();
    look_for(is_needed);
    l.lock();
    --looking_;
  }
  while (!is_needed()) {
    ++sleeping_;
    work_.wait(l);
    --sleeping_;
    if (coming_ != 0) --coming_;
  }
  return !is_ending_;
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
