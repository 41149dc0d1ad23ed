// Mutexes and locks that clang's thread-safety analysis checks: it finds members that are used without their mutex.
#pragma once
#include <mutex>

#include "ferry/core/detail/support/internal.hpp"

#if defined(__clang__) && !defined(__CUDA__)
#define FERRY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define FERRY_THREAD_ATTRIBUTE(x)
#endif
// Of a member: it may be used only while this mutex is locked.
#define FERRY_GUARDED_BY(mutex) FERRY_THREAD_ATTRIBUTE(guarded_by(mutex))
// Of a function: its caller holds this mutex.
#define FERRY_LOCKED(mutex) FERRY_THREAD_ATTRIBUTE(requires_capability(mutex))
// Of a function whose locks clang cannot follow.
#define FERRY_UNCHECKED_LOCKS FERRY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace ferry::inline FERRY_ABI::detail {

// A std::mutex.
class FERRY_THREAD_ATTRIBUTE(capability("mutex")) mutex {
 public:
  void lock() FERRY_THREAD_ATTRIBUTE(acquire_capability()) { native_.lock(); }
  void unlock() FERRY_THREAD_ATTRIBUTE(release_capability()) { native_.unlock(); }
  bool try_lock() FERRY_THREAD_ATTRIBUTE(try_acquire_capability(true)) { return native_.try_lock(); }

 private:
  friend class unique_lock;
  std::mutex native_;
};

// A std::lock_guard.
class FERRY_THREAD_ATTRIBUTE(scoped_lockable) lock_guard {
 public:
  explicit lock_guard(mutex& m) FERRY_THREAD_ATTRIBUTE(acquire_capability(m)) : mutex_(m) { mutex_.lock(); }
  ~lock_guard() FERRY_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

 private:
  mutex& mutex_;
};

}  // namespace ferry::inline FERRY_ABI::detail
