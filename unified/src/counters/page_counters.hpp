// The driver's counts of page events, if the program asked for them: started, stopped, and given to arrays and phases.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "counters/counted_pages.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry {

// What an array is called in reports.
std::string name_in_reports(const allocation& a, std::size_t bytes);

class page_counters {
 public:
  // Off, unless the environment says otherwise. Throws parse_error if it says something else.
  explicit page_counters(runtime& m);
  ~page_counters();
  page_counters(const page_counters&) = delete;
  page_counters& operator=(const page_counters&) = delete;

  void set(migration_counters how);
  // Whether something counts.
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  // An array is about to be used in that phase.
  void used(allocation& a, const std::string& phase);
  // Counts so far, and in the report how that went. Blocks until the driver has given them.
  std::map<counted_pages::row_name, counted_moves> read(migration_report& into);
  // Counts begin again from zero. Blocks as read does.
  void reset();

 private:
  void start();
  void stop();
  void take(bool flush);

  runtime& runtime_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;  // all below
  bool asked_ = false;
  page_event_source* source_ = nullptr;
  std::unique_ptr<page_event_source> owned_;
  std::string why_not_;
  std::uint64_t lost_before_ = 0;
  counted_pages books_;
};

}  // namespace ferry
