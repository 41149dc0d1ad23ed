// A mutex that child processes of fork() find unlocked.
#pragma once
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// While it exists, fork() waits for the mutex and holds it: a child process has none of the threads that could release
// it, and finds what it guards complete. A thread that holds it must not call fork(). A thread that holds one such
// mutex must not wait for another one.
class fork_guard {
 public:
  struct any_mutex {
    void* mutex;
    void (*lock)(void*);
    void (*unlock)(void*);
  };
  template <class Mutex>
  explicit fork_guard(Mutex& m) : fork_guard(any_mutex{&m, lock<Mutex>, unlock<Mutex>}) {}
  ~fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;

 private:
  explicit fork_guard(any_mutex m);
  template <class Mutex>
  static void lock(void* m) FERRY_UNCHECKED_LOCKS {
    static_cast<Mutex*>(m)->lock();
  }
  template <class Mutex>
  static void unlock(void* m) FERRY_UNCHECKED_LOCKS {
    static_cast<Mutex*>(m)->unlock();
  }

  const void* mutex_;
};

}  // namespace ferry::inline FERRY_ABI::detail
