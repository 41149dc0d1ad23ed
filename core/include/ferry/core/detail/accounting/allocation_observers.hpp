// The observers of one runtime.
#pragma once
#include <atomic>
#include <shared_mutex>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe. Without observers, tell() costs one load.
class allocation_observers {
 public:
  // The observer must live until it is removed. Removal blocks until no thread calls it.
  void add(allocation_observer& o);
  void remove(allocation_observer& o) noexcept;
  // Calls f with each observer.
  template <class F>
  void tell(F f) noexcept {
    if (!any_.load(std::memory_order_relaxed)) [[likely]]
      return;
    std::shared_lock lock(mutex_);
    for (allocation_observer* o : observers_) f(*o);
  }

 private:
  std::atomic<bool> any_{false};
  std::shared_mutex mutex_;
  std::vector<allocation_observer*> observers_;
};

}  // namespace ferry::inline FERRY_ABI::detail
