// The permission of one view for accesses of the CPU.
#pragma once
#include <atomic>
#include <cstdint>

#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/movable_load.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Host access that this view has already waited for; valid until the next submission to the same bytes. Several threads
// may use one view. Release and acquire order make the writes before one thread's wait visible to every thread that
// reads the result.
class host_permission {
 public:
  host_permission() = default;
  host_permission(const host_permission&) noexcept {}
  host_permission& operator=(const host_permission&) noexcept {
    forget();
    return *this;
  }
  // True if the CPU may read the bytes without waiting.
  bool may_read(const access_history& l) const {
    if (l.is_host_clean()) [[likely]]
      return true;  // one load less than the counter comparison; loads bound a loop over elements
    return l.writes() == movable_load(writes_);
  }
  // True if the CPU may write the bytes without waiting.
  bool may_write(const access_history& l) const { return l.access_epoch() == movable_load(access_epoch_); }
  // Stores the result of a completed wait for reading, or also for writing.
  void keep(host_access_state s, bool write) {
    writes_.store(s.writes, std::memory_order_release);
    if (write) access_epoch_.store(s.access_epoch, std::memory_order_release);
  }
  // Invalidates the permission: the next access waits again.
  void forget() { access_epoch_.store(0, std::memory_order_relaxed), writes_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> access_epoch_{0}, writes_{0};
};

}  // namespace ferry::inline FERRY_ABI::detail
