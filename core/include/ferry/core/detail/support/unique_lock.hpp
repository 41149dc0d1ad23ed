// A lock of a mutex for waits on conditions, known to clang's thread-safety analysis.
#pragma once
#include <condition_variable>
#include <mutex>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A std::unique_lock that is locked at first. Conditions are written as loops around wait(), because clang analyses
// lambdas apart from the function.
class FERRY_THREAD_ATTRIBUTE(scoped_lockable) unique_lock {
 public:
  explicit unique_lock(mutex& m) FERRY_THREAD_ATTRIBUTE(acquire_capability(m)) : native_(m.native_) {}
  ~unique_lock() FERRY_THREAD_ATTRIBUTE(release_capability()) {}
  unique_lock(const unique_lock&) = delete;
  unique_lock& operator=(const unique_lock&) = delete;
  void lock() FERRY_THREAD_ATTRIBUTE(acquire_capability()) { native_.lock(); }
  void unlock() FERRY_THREAD_ATTRIBUTE(release_capability()) { native_.unlock(); }
  void wait(std::condition_variable& changed) { changed.wait(native_); }
  // Returns after this time, or earlier.
  template <class Duration>
  void wait_for(std::condition_variable& changed, Duration most) {
    changed.wait_for(native_, most);
  }

 private:
  std::unique_lock<std::mutex> native_;
};

}  // namespace ferry::inline FERRY_ABI::detail
