#include "ferry/unified/batch_pipeline.hpp"

#include <utility>

namespace ferry::detail {

batch_pipeline::batch_pipeline(batch_work& work, std::size_t depth, bool stores, batch_threads threads)
    : work_(work),
      depth_(depth),
      stores_(stores) {
  if (threads == batch_threads::none) return;
  threads_.reserve(2);
  threads_.emplace_back([this] { load_loop(); });
  if (!stores_) return;
  try {
    threads_.emplace_back([this] { store_loop(); });
  } catch (...) {  // no thread to be had: the one that is there must not be left running
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    threads_.front().join();
    throw;
  }
}

batch_pipeline::~batch_pipeline() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

// With the lock held on entry and on return of the callers below; the work itself runs without it.
void batch_pipeline::load_loop() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || ended_ || failed_ || may_load(); });
      if (!may_load()) return;
    }
    load_one();
  }
}

void batch_pipeline::load_one() {
  bool more = false;
  std::exception_ptr thrown;
  try {
    more = work_.load(loaded_ % depth_, loaded_);  // loaded_ changes here alone
  } catch (...) {
    thrown = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    if (thrown && !failed_) failed_ = thrown;
    if (more)
      ++loaded_;
    else
      ended_ = true;
  }
  changed_.notify_all();
}

// What the loop has left is stored even when it stops early.
void batch_pipeline::store_loop() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || may_store(); });
      if (!may_store()) return;
    }
    store_one();
  }
}

void batch_pipeline::store_one() {
  std::exception_ptr thrown;
  try {
    work_.store(released_ % depth_);  // released_ changes here alone
  } catch (...) {
    thrown = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    if (thrown && !failed_) failed_ = thrown;
    ++released_;
  }
  changed_.notify_all();
}

std::optional<std::size_t> batch_pipeline::next_inline() {
  while (may_store() && stores_) store_one();
  while (may_load()) load_one();
  if (given_ < loaded_) return given_++ % depth_;
  if (failed_) std::rethrow_exception(failed_);
  return {};
}

std::optional<std::size_t> batch_pipeline::next() {
  if (threads_.empty()) return next_inline();
  std::unique_lock lock(mutex_);
  // Pieces loaded before a failure of the loading are still given; at the end the loop waits for the results.
  const auto over = [&] { return failed_ || (ended_ && released_ == done_); };
  changed_.wait(lock, [&] { return given_ < loaded_ || over(); });
  if (given_ < loaded_) return given_++ % depth_;
  if (failed_) std::rethrow_exception(failed_);
  return {};
}

void batch_pipeline::done() {
  {
    std::lock_guard lock(mutex_);
    ++done_;
    if (!stores_) ++released_;
  }
  changed_.notify_all();
}

}  // namespace ferry::detail
