#include "copies/copy_workers.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

#include "ferry/core/detail/support/spin.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// About 30 us: jobs of one copy come more often than that, and waking a thread takes longer.
constexpr int spins = 1000;

}  // namespace

copy_workers::copy_workers(std::size_t threads, std::vector<int> near, std::size_t piece_bytes)
    : near_(std::move(near)),
      piece_bytes_(piece_bytes) {
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // the system allows no more threads: the existing ones do the work
    if (threads_.empty()) throw;
  }
}

copy_workers::~copy_workers() {
  {
    lock_guard lock(mutex_);
    ending_ = true;
  }
  given_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void copy_workers::start(job& j) {
  std::size_t wake = 0;
  {
    lock_guard lock(mutex_);
    j.done = false;
    j.begun = j.copied = 0;
    jobs_.push_back(&j);
    any_.store(true, std::memory_order_relaxed);
    wake = std::min(asleep_, (j.bytes + piece_bytes_ - 1) / piece_bytes_);
  }
  for (; wake > 0; --wake) given_.notify_one();
}

void copy_workers::wait(job& j) {
  unique_lock lock(mutex_);
  while (!j.done) lock.wait(finished_);
}

void copy_workers::await_job(unique_lock& lock) {
  lock.unlock();
  for (int i = 0; i < spins && !any_.load(std::memory_order_relaxed); ++i) relax_cpu();
  lock.lock();
  ++asleep_;
  while (!ending_ && jobs_.empty()) lock.wait(given_);
  --asleep_;
}

void copy_workers::work() {
  run_this_thread_on(near_);
  unique_lock lock(mutex_);
  for (;;) {
    if (jobs_.empty()) await_job(lock);
    if (jobs_.empty()) return;
    job& j = *jobs_.front();
    const std::size_t begin = j.begun, n = std::min(piece_bytes_, j.bytes - begin);
    j.begun += n;
    if (j.begun == j.bytes) {
      jobs_.pop_front();
      any_.store(!jobs_.empty(), std::memory_order_relaxed);
    }
    lock.unlock();
    std::memcpy(static_cast<char*>(j.to) + begin, static_cast<const char*>(j.from) + begin, n);
    lock.lock();
    j.copied += n;
    if (j.copied < j.bytes) continue;
    j.done = true;
    finished_.notify_all();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
