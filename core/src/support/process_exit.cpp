#include "support/process_exit.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace ferry::inline FERRY_ABI::detail {
namespace {

constinit std::atomic<bool> exiting{false};

// exit() destroys thread-local objects of the calling thread before static ones (C++20, [basic.start.term]).
struct main_thread_watch {
  ~main_thread_watch() {
    if (::syscall(SYS_gettid) == ::getpid()) exiting = true;
  }
  void begin() const {}
};
thread_local const main_thread_watch watch;

}  // namespace

void watch_for_exit() {
  [[maybe_unused]] static const int registered = std::atexit([] { exiting = true; });
  watch.begin();
}

bool is_exiting() noexcept { return exiting.load(std::memory_order_relaxed); }

}  // namespace ferry::inline FERRY_ABI::detail
