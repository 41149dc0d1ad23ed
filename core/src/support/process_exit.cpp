#include "support/process_exit.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace ferry::inline FERRY_ABI::detail {
namespace {

constinit std::atomic<bool> exiting{false};
constinit std::atomic<void (*)()> at_main_thread_end{nullptr};

// exit() destroys thread-local objects of the calling thread before static ones (C++20, [basic.start.term]).
struct main_thread_watch {
  ~main_thread_watch() {
    if (::syscall(SYS_gettid) != ::getpid()) return;
    exiting = true;
    if (void (*const call)() = at_main_thread_end) call();
  }
  void begin() const {}
};
thread_local const main_thread_watch watch;

}  // namespace

void watch_for_exit() {
  [[maybe_unused]] static const int registered = std::atexit([] { exiting = true; });
  watch.begin();
}

void call_at_main_thread_end(void (*f)()) {
  at_main_thread_end = f;
  watch_for_exit();
}

bool is_exiting() noexcept { return exiting.load(std::memory_order_relaxed); }

}  // namespace ferry::inline FERRY_ABI::detail
