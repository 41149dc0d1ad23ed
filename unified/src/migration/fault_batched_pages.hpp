// Pages of the driver that many small arrays share, and that move to a device one array after the other.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

// For driver_quirks::faults_fetch_neighbours: a prefetch of each array costs more than the faults of the first few.
class fault_batched_pages {
 public:
  // Call before a small range moves to a device. True if more than `most` ranges of its page do so, in this round or in
  // the last one.
  bool is_crowded(byte_range where, std::size_t page, int device, int most) {
    const auto at = reinterpret_cast<std::uintptr_t>(where.begin);
    const std::uint64_t bit = std::uint64_t{1} << (at % page * places / page);
    lock_guard lock(mutex_);
    turns& t = of_[{at / page * page, device}];
    if (t.seen & bit) t = {0, std::popcount(t.seen)};  // the same range again: a new round begins
    t.seen |= bit;
    return std::max(t.before, std::popcount(t.seen)) > most;
  }

 private:
  static constexpr std::size_t places = 64;  // positions in a page, for the first bytes of ranges
  struct turns {
    std::uint64_t seen = 0;  // a bit for each position whose range has moved in this round
    int before = 0;          // number of ranges in the last round
  };
  mutex mutex_;
  std::map<std::pair<std::uintptr_t, int>, turns> of_ FERRY_GUARDED_BY(mutex_);  // by page and device
};

}  // namespace ferry::inline FERRY_ABI::detail
