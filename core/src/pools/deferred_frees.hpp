// Allocations that were freed where nothing may be submitted, or waited for: kept until somebody may.
#pragma once
#include <mutex>
#include <utility>

#include <ferry/core/detail/ordering/allocation.hpp>
#include <ferry/core/detail/support/spin.hpp>

namespace ferry {

// Its lock is a leaf: the owner's may be held for long, or while somebody waits for the very submission that frees.
class deferred_frees {
 public:
  void add(allocation& a) noexcept {
    std::lock_guard lock(lock_);
    a.next = first_;
    first_ = &a;
  }
  // Calls each(allocation&) for all that came until now, last first; each may free it, or add it again.
  template <class Each>
  void take_all(Each each) {
    allocation* at = nullptr;
    {
      std::lock_guard lock(lock_);
      at = std::exchange(first_, nullptr);
    }
    while (at) {
      allocation& a = *at;
      at = a.next;
      each(a);
    }
  }

 private:
  spin_lock lock_;
  allocation* first_ = nullptr;  // linked by next
};

}  // namespace ferry
