// Frees deferred because the calling thread must not submit or wait. A later call that may do so drains them.
#pragma once
#include <mutex>
#include <utility>

#include <ferry/core/detail/ordering/allocation.hpp>
#include <ferry/core/detail/support/spin.hpp>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Has its own leaf lock. The owner's lock may be held for long, or by a thread that waits for the submission that
// frees.
class deferred_frees {
 public:
  void add(allocation& a) noexcept {
    std::lock_guard lock(lock_);
    a.next = first_;
    first_ = &a;
  }
  // Calls each(allocation&) for all frees added until now, the last first. each may free the allocation, or add it
  // again.
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

}  // namespace ferry::inline FERRY_ABI::detail
