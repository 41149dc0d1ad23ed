// Soft limits: while one is crossed, unused bytes are released early, in short pauses.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "ferry/core/detail/accounting/limit_enforcer.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe. One thread at a time releases bytes.
class early_reclaim {
 public:
  using callback = std::function<std::size_t(const memory_pressure&)>;
  early_reclaim(const limit_enforcer& limits, const pool_registry& pools);
  ~early_reclaim();
  early_reclaim(const early_reclaim&) = delete;
  early_reclaim& operator=(const early_reclaim&) = delete;

  // Releases bytes if a soft limit is crossed and the cost is justified. Call it with no lock held; does nothing in a
  // submission and in a capture.
  void at_synchronization() {
    if (under_pressure_.load(std::memory_order_relaxed)) [[unlikely]]
      run();
  }
  // Checks whether a soft limit is crossed. Call it after bytes were reserved or limits were set.
  void look();
  std::uint64_t add_callback(callback f);
  // Does nothing for other numbers.
  void remove_callback(std::uint64_t id) noexcept;

 private:
  void run();
  struct progress;
  const limit_enforcer& limits_;
  const pool_registry& pools_;
  std::atomic<bool> under_pressure_{false};
  owning_ptr<progress> progress_;
};

}  // namespace ferry::inline FERRY_ABI::detail
