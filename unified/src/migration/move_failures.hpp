// Failed moves of pages, and the end of automatic migration after too many.
#pragma once
#include <atomic>
#include <string>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

class move_failures {
 public:
  // Counts a failed move. A device may have failed, or the driver may refuse all moves: after several failures,
  // automatic migration ends, and a line on stderr reports why.
  void add(const std::string& why);
  // True if automatic migration has ended.
  bool are_too_many() const { return are_too_many_.load(std::memory_order_relaxed); }
  // Returns why automatic migration has ended; empty if it has not.
  std::string why_ended() const;

 private:
  mutable mutex mutex_;  // guards count_ and why_ended_
  int count_ FERRY_GUARDED_BY(mutex_) = 0;
  std::string why_ended_ FERRY_GUARDED_BY(mutex_);  // the last of too many failures
  std::atomic<bool> are_too_many_{false};
};

}  // namespace ferry::inline FERRY_ABI::detail
