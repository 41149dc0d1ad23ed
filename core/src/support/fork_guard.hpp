// A mutex that child processes of fork() find unlocked.
#pragma once
#include <mutex>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// While it exists, fork() waits for the mutex and holds it: a child process has none of the threads that could release
// it, and finds what it guards complete. A thread that holds it must not call fork().
class fork_guard {
 public:
  explicit fork_guard(std::mutex& m);
  ~fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;

 private:
  std::mutex& mutex_;
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
