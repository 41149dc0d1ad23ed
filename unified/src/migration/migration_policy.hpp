// The access policy of unified arrays: records the locations of pages, and moves pages that are about to be used.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "counters/page_counters.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/unified/automatic.hpp"
#include "ferry/unified/host_guard.hpp"
#include "ferry/unified/policy_file.hpp"
#include "ferry/unified/report.hpp"
#include "migration/array_records.hpp"
#include "migration/fault_batched_pages.hpp"
#include "migration/host_prefetcher.hpp"
#include "migration/migration_settings.hpp"
#include "migration/migration_streams.hpp"
#include "migration/migration_thread_state.hpp"
#include "migration/move_failures.hpp"
#include "migration/move_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Reads FERRY_CHECK_SPANS. If that is not set, spans are checked at check_level::all. Throws parse_error.
span_checks span_checks_of_environment(check_level level);
// Reads FERRY_TRACE_ELEMENTS. Throws parse_error.
element_traces element_traces_of_environment();

class migration_policy final : public access_policy {
 public:
  explicit migration_policy(runtime& m);
  ~migration_policy() override;
  // Returns the policy of the current runtime. Throws not_supported if that has none.
  static migration_policy& current();
  // Null if the runtime has another policy, or none.
  static migration_policy* of(runtime& m) { return dynamic_cast<migration_policy*>(m.policy()); }
  migration_settings& settings() { return settings_; }
  array_records& records() { return records_; }

  void before_access(const coming_access& a) override;
  void before_copy(const coming_access& a) override;
  bool permits_at_large() const override { return !traces_elements_.load(std::memory_order_relaxed); }
  std::string explain(allocation& a) override;

  // Records that the CPU accesses a range, until end_scope() with the returned number. Guards pin the pages to the CPU.
  // Spans, which are tracked only with span checks, do not pin pages: they only make conflicting work an error.
  std::uint64_t begin_scope(allocation& a, byte_range where, bool writes, source_line at);
  void end_scope(allocation& a, std::uint64_t scope) noexcept;
  std::uint64_t hold(allocation& a, byte_range where, bool writes, source_line at, const char* through) override;
  void let_go(allocation& a, std::uint64_t number) noexcept override { end_scope(a, number); }
  void set_span_checks(span_checks how);
  void set_element_traces(element_traces how);

  // Prefetches, discards and advice of the program.
  // Throws invalid_argument if the bytes are adopted memory that stands in for a unified array.
  void need_managed(allocation& a, const char* verb);
  // Returns the range without the pages that guards pin to the CPU.
  std::vector<byte_range> without_kept(allocation& a, byte_range where);
  void advised(allocation& a, byte_range where, memory_advice what, memory_location place);
  // Advice for a scope. At its end, the driver receives the remaining advice for the same bytes again.
  std::uint64_t begin_advice(allocation& a, byte_range where, memory_advice what, memory_location place);
  void end_advice(allocation& a, std::uint64_t number);

  // Marks the current contents as discardable when memory runs out, until the next use of the array.
  void mark_discardable(allocation& a, byte_range where);
  bool is_discardable(allocation& a, byte_range where);
  // Two out-of-memory handlers (see reclaim_handler): drop discardable contents, least recently used first, or move
  // pages to the CPU with their contents. They take only unused pages, and return the bytes that they freed.
  std::size_t drop_discardable(const memory_demand& d) { return evict(d, page_step::drop); }
  std::size_t move_out(const memory_demand& d) { return evict(d, page_step::move); }

  // Without a policy: the array has that of its name, if any. (policy_table.cpp defines these.)
  void set_policy(allocation& a, std::optional<array_policy> p);
  std::optional<array_policy> policy(allocation& a);
  std::optional<array_policy> own_policy(allocation& a);  // set by set_policy only
  // from: the origin of the policies, for error texts.
  void use(const array_policies& p, const std::string& from);
  std::vector<std::string> unmet();
  // Blocks until a host prefetch in progress has ended.
  void wait_for_arrival(allocation& a);

  migration_report report();
  void reset_report();
  void set_counters(migration_counters how) { counters_.set(how); }

 private:
  bool may_move(const array_record& r) const;
  void use_environment();
  void take_policy(allocation& a);
  // Advises the driver for a policy that the array has received. If the driver refuses, restores the previous policy
  // and throws.
  void tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own);
  void tell_driver_of_growth(allocation& a);
  void tell_driver(allocation& a);
  void tell_driver(byte_range where, memory_advice what, memory_location place);
  static coming_access ahead_of(const coming_access& a, byte_range all);
  surroundings around(const array_record& r, const coming_access& a);
  // True if a device other than `who` has incomplete reads of the bytes.
  bool is_read_by_others(allocation& what, byte_range where, int who);
  void carry_out(const coming_access& a, const std::vector<planned>& plan);
  void send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what);
  std::uint64_t add_scope(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                          bool keeps_pages);
  bool arrives_beside_loop(const coming_access& a, const std::vector<planned>& plan);
  void enter(const coming_access& a, const std::vector<planned>& plan);
  migration_entry& entry_of(allocation& a);
  // Called before pages of an array may move, for any reason.
  void expect_counts(allocation& a) {
    if (counters_.is_on()) counters_.used(a, this_thread_migration().phase);
  }
  // An array with pages on a device that is short of memory.
  struct candidate {
    array_record* of;
    std::uint64_t used;
  };
  std::size_t evict(const memory_demand& d, page_step how);
  std::vector<candidate> candidates(page_step how);
  std::size_t take_from(array_record& r, const memory_demand& d, page_step how, std::size_t enough);
  bool send_away(array_record& r, byte_range where, int device, page_step how, std::uint64_t& access_epoch);

  runtime& runtime_;
  migration_settings settings_;
  move_failures failures_;
  array_records records_;
  migration_streams streams_;
  // Guards entries_, policies_ and met_.
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> scopes_{0};
  std::atomic<bool> checks_spans_{false};
  std::atomic<bool> traces_elements_{false};  // every access to an element is checked
  std::uint64_t handlers_[2] = {};
  std::map<std::pair<std::string, std::string>, migration_entry> entries_;
  array_policies policies_;  // policies by name, and in met_ the names that arrays have had; guarded by mutex_
  std::set<std::string> met_;
  std::atomic<std::uint64_t> policies_given_{0};  // number of calls of use(); 0: no policies
  page_counters counters_;
  host_prefetcher host_prefetcher_;
  fault_batched_pages fault_batched_;
};

}  // namespace ferry::inline FERRY_ABI::detail
