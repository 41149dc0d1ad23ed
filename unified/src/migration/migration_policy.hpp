// The access policy of unified arrays: records the locations of pages, and moves pages that are about to be used.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "counters/page_counters.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/unified/report.hpp"
#include "migration/advice_table.hpp"
#include "migration/array_records.hpp"
#include "migration/fault_batched_pages.hpp"
#include "migration/host_prefetcher.hpp"
#include "migration/host_scopes.hpp"
#include "migration/migration_settings.hpp"
#include "migration/migration_streams.hpp"
#include "migration/migration_thread_state.hpp"
#include "migration/move_failures.hpp"
#include "migration/move_plan.hpp"
#include "migration/policy_table.hpp"

namespace ferry::inline FERRY_ABI::detail {

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
  host_scopes& scopes() { return scopes_; }
  advice_table& advice() { return advice_; }
  policy_table& policies() { return policies_; }

  void before_access(const coming_access& a) override;
  void before_copy(const coming_access& a) override;
  bool permits_at_large() const override { return !scopes_.traces_elements(); }
  std::string explain(allocation& a) override;

  std::uint64_t hold(allocation& a, byte_range where, bool writes, source_line at, const char* through) override {
    return scopes_.begin_span(a, where, writes, at, through);
  }
  void let_go(allocation& a, std::uint64_t number) noexcept override { scopes_.end(a, number); }

  // Throws invalid_argument if the bytes are adopted memory that stands in for a unified array.
  void need_managed(allocation& a, const char* verb);

  // Marks the current contents as discardable when memory runs out, until the next use of the array.
  void mark_discardable(allocation& a, byte_range where);
  bool is_discardable(allocation& a, byte_range where);
  // Two out-of-memory handlers (see reclaim_handler): drop discardable contents, least recently used first, or move
  // pages to the CPU with their contents. They take only unused pages, and return the bytes that they freed.
  std::size_t drop_discardable(const memory_demand& d) { return evict(d, page_step::drop); }
  std::size_t move_out(const memory_demand& d) { return evict(d, page_step::move); }

  // Blocks until a host prefetch in progress has ended.
  void wait_for_arrival(allocation& a);

  migration_report report();
  void reset_report();
  void set_counters(migration_counters how) { counters_.set(how); }

 private:
  bool may_move(const array_record& r) const;
  // Advises the driver about added bytes.
  void advise_grown(allocation& a);
  surroundings around(const array_record& r, const coming_access& a);
  // True if a device other than `who` has incomplete reads of the bytes.
  bool is_read_by_others(allocation& what, byte_range where, int who);
  void carry_out(const coming_access& a, const std::vector<planned>& plan);
  void send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what);
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
  // Guards entries_.
  mutable std::mutex mutex_;
  page_counters counters_;
  host_scopes scopes_;
  advice_table advice_;
  policy_table policies_;
  std::uint64_t handlers_[2] = {};
  std::map<std::pair<std::string, std::string>, migration_entry> entries_;
  host_prefetcher host_prefetcher_;
  fault_batched_pages fault_batched_;
};

}  // namespace ferry::inline FERRY_ABI::detail
