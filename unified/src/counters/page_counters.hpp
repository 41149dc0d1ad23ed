// The driver's counts of page events, if the program requests them: starts and stops counting, and attributes counts to
// arrays and phases.
#pragma once
#include <atomic>
#include <memory>

#include "counters/counted_pages.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the name of an array in reports.
std::string name_in_reports(const allocation& a, std::size_t bytes);

class page_counters {
 public:
  // Counts nothing unless FERRY_MIGRATION_COUNTERS is on. Throws parse_error if its value is not allowed.
  explicit page_counters(runtime& m);
  ~page_counters();
  page_counters(const page_counters&) = delete;
  page_counters& operator=(const page_counters&) = delete;

  void set(migration_counters how);
  // True if events are counted.
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  // Records that an array is about to be used in a phase.
  void used(allocation& a, const std::string& phase);
  // Returns the counts so far, and enters into the report whether events were counted. Blocks until the driver has
  // delivered them.
  std::map<counted_pages::row_name, counted_moves> read(migration_report& into);
  // Resets the counts to zero. Blocks as read() does.
  void reset();

 private:
  void start() FERRY_LOCKED(mutex_);
  void stop() FERRY_LOCKED(mutex_);
  void take(bool flush) FERRY_LOCKED(mutex_);

  runtime& runtime_;
  std::atomic<bool> on_{false};
  mutex mutex_;
  bool asked_ FERRY_GUARDED_BY(mutex_) = false;
  page_event_source* source_ FERRY_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<page_event_source> owned_ FERRY_GUARDED_BY(mutex_);
  std::string why_not_ FERRY_GUARDED_BY(mutex_);
  std::uint64_t lost_before_ FERRY_GUARDED_BY(mutex_) = 0;
  counted_pages pages_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
