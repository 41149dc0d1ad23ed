// Short waits of CPU threads for each other.
#pragma once
#include <sched.h>

#include <atomic>

namespace ferry {

// Tells the processor that this is a waiting loop.
inline void relax_cpu() {
#if defined(__x86_64__)
  asm volatile("pause");  // _mm_pause(), without the 39 000 lines of <immintrin.h>
#endif
}

// Spins a little, then gives the core to others, until `done()`.
template <class Predicate>
void give_way_until(Predicate done) {
  for (int i = 0; !done(); ++i)
    if (i < 64)
      relax_cpu();
    else
      sched_yield();
}

// For what is held for tens of nanoseconds, or while the driver is told something: nothing is written to let it go but
// one byte.
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

}  // namespace ferry
