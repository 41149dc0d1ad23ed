// The streams on which this module moves pages beside the program's work.
#pragma once
#include <map>
#include <utility>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

class migration_streams {
 public:
  explicit migration_streams(runtime& m) : runtime_(m) {}
  // Moves to the CPU. A separate stream: they wait only for users of their pages.
  timeline& to_cpu(int device, bool migration_only = false);
  // Moves of evicted pages.
  timeline& out_of(int device);
  // True if it is one of these streams.
  bool contain(const timeline* line) const;

 private:
  runtime& runtime_;
  mutable mutex mutex_;  // guards the members below
  // by device, and whether it is migration-only
  std::map<std::pair<int, bool>, timeline*> to_cpu_ FERRY_GUARDED_BY(mutex_);
  std::map<int, timeline*> out_of_ FERRY_GUARDED_BY(mutex_);  // by device
};

}  // namespace ferry::inline FERRY_ABI::detail
