// Pages of the driver that many small arrays share, and that they change sides in one after the other.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "ferry/core/detail/ordering/access_history.hpp"

namespace ferry {

// A prefetch for each of them costs more than the faults of the first few, which take their neighbours along (decision 34).
class fault_batched_pages {
 public:
  // A small range is about to go to a device: whether more than `most` of its page do so, in this turn or the last one.
  bool is_crowded(byte_range where, std::size_t page, int device, int most) {
    const auto at = reinterpret_cast<std::uintptr_t>(where.begin);
    const std::uint64_t bit = std::uint64_t{1} << (at % page * places / page);
    std::lock_guard lock(mutex_);
    turns& t = of_[{at / page * page, device}];
    if (t.seen & bit) t = {0, std::popcount(t.seen)};  // it comes again: a new turn
    t.seen |= bit;
    return std::max(t.before, std::popcount(t.seen)) > most;
  }

 private:
  static constexpr std::size_t places = 64;  // that a page has for the first bytes of ranges
  struct turns {
    std::uint64_t seen = 0;  // a bit for each place of which a range went, in this turn
    int before = 0;          // how many did in the last one
  };
  std::mutex mutex_;
  std::map<std::pair<std::uintptr_t, int>, turns> of_;  // by page and device
};

}  // namespace ferry
