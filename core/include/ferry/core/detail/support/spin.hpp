// Short waits of CPU threads for each other.
#pragma once
#include <sched.h>

#include <atomic>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Hints to the processor that this is a spin loop.
inline void relax_cpu() {
#if defined(__x86_64__)
  asm volatile("pause");  // _mm_pause(), without the 39 000 lines of <immintrin.h>
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A thread spins so many times for its next work before it sleeps: waking it takes longer than a small kernel.
inline constexpr int spins_before_sleep = 4000;

// Spins briefly, then yields the core repeatedly, until `done()`.
template <class Predicate>
void give_way_until(Predicate done) {
  for (int i = 0; !done(); ++i)
    if (i < 64)
      relax_cpu();
    else
      sched_yield();
}

// Lock for critical sections of tens of nanoseconds, or of driver calls. Unlocking writes one byte only.
class spin_lock {
 public:
  void lock() {
    if (held_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      wait_and_lock();
  }
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline, gnu::cold]] void wait_and_lock() {
    do give_way_until([&] { return !held_.load(std::memory_order_relaxed); });
    while (held_.exchange(true, std::memory_order_acquire));
  }
  std::atomic<bool> held_{false};
};

}  // namespace ferry::inline FERRY_ABI::detail
