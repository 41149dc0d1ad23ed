// Short waits of CPU threads for each other.
#pragma once
#include <atomic>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ferry {

// Tells the processor that this is a waiting loop.
inline void relax_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Spins a little, then gives the core to others, until `done()`.
template <class Predicate>
void give_way_until(Predicate done) {
  for (int i = 0; !done(); ++i)
    if (i < 64)
      relax_cpu();
    else
      std::this_thread::yield();
}

// Held for tens of nanoseconds: the access logs, which have no room for more.
class spin_lock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire))
      give_way_until([&] { return !held_.load(std::memory_order_relaxed); });
  }
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace ferry
