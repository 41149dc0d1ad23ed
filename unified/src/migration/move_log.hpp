// Moves of pages and accesses of the CPU, by array and phase: the rows of the migration report.
#pragma once
#include <map>
#include <vector>

#include "counters/counted_pages.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/unified/report.hpp"
#include "migration/move_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

class move_log {
 public:
  using rows = std::map<counted_pages::row_name, migration_entry>;
  // Adds an access with its plan, in the phase of the calling thread. stays: the array is memory of the program, which
  // does not move.
  void add(const coming_access& a, const std::vector<planned>& plan, bool stays);
  rows copy() const;
  void reset();

 private:
  migration_entry& row_of(allocation& a) FERRY_LOCKED(mutex_);

  mutable mutex mutex_;  // guards rows_
  rows rows_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
