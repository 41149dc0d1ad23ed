// The driver's counts of page events, if the program requests them: starts and stops counting, and attributes counts to
// arrays and phases.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "counters/counted_pages.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
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
  void start();
  void stop();
  void take(bool flush);

  runtime& runtime_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;  // guards all members below
  bool asked_ = false;
  page_event_source* source_ = nullptr;
  std::unique_ptr<page_event_source> owned_;
  std::string why_not_;
  std::uint64_t lost_before_ = 0;
  counted_pages books_;
};

}  // namespace ferry::inline FERRY_ABI::detail
