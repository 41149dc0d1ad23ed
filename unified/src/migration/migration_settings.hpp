// Mode and options of migration for the arrays of a runtime.
#pragma once
#include <atomic>
#include <cstddef>
#include <string>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/unified/automatic.hpp"
#include "migration/array_record.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Throws invalid_argument for options that cannot work. whose: their origin, for the error text.
void check_options(const migration_options& o, const std::string& whose);

class migration_settings {
 public:
  // Reads the mode from FERRY_MIGRATION. Throws parse_error if its value is not allowed.
  migration_settings();
  void set_mode(migration how) { mode_.store(how); }
  // True if the pages of the array move without hints. The mode of the calling thread's scope has precedence over those
  // of the array, of its policy and of the runtime, in this order.
  bool is_automatic(const array_record& r) const;

  // Throws invalid_argument for options that cannot work.
  void set_options(const migration_options& o);
  migration_options options() const;
  // Returns the options with those of the array's policy.
  migration_options options_of(const array_record& r) const;
  // Returns options().page without a lock.
  std::size_t page() const { return page_.load(std::memory_order_relaxed); }

 private:
  std::atomic<migration> mode_;
  mutable mutex mutex_;  // guards options_
  migration_options options_ FERRY_GUARDED_BY(mutex_);
  std::atomic<std::size_t> page_{migration_options{}.page};
};

}  // namespace ferry::inline FERRY_ABI::detail
