// Whether the halos of an array are up to date, so that a shifted operand needs no exchange.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/graph.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Reports halos as up to date only if that is certain. One thread makes all calls of a team, but views of its members
// may be handed out concurrently.
class halo_currency : public std::enable_shared_from_this<halo_currency> {
 public:
  // Records that all halos were filled.
  void filled() { record(true); }
  // Records that cells were written.
  void changed() {
    changes_.fetch_add(1, std::memory_order_relaxed);
    record(false);
  }
  // How often cells were recorded as written. In a capture, too, and not at launches of its graph.
  std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  // Records that a writable view or reference exists. Later writes through it are not recorded, so that halos do not
  // count as up to date any more.
  void handed_out() { is_handed_out_.store(true, std::memory_order_relaxed); }

  bool are_filled() const {
    if (is_handed_out_.load(std::memory_order_relaxed)) return false;
    const std::uint64_t capture = current_capture();
    if (capture == 0) return are_filled_.load(std::memory_order_relaxed);
    return capture_ == capture && are_filled_in_capture_;
  }

 private:
  // A capture records only its own changes. Outside of the capture, each launch of its graph counts as a change.
  void record(bool are_filled) {
    const std::uint64_t capture = current_capture();
    if (capture == 0) return are_filled_.store(are_filled, std::memory_order_relaxed);
    if (capture_ != capture) {
      at_each_launch([self = this->shared_from_this()] { self->changed(); });
      capture_ = capture;
    }
    are_filled_in_capture_ = are_filled;
  }

  std::atomic<bool> are_filled_{false}, is_handed_out_{false};
  std::atomic<std::uint64_t> changes_{0};
  std::uint64_t capture_ = 0;
  bool are_filled_in_capture_ = false;
};

}  // namespace ferry::inline FERRY_ABI::detail
