// The access policy of unified arrays: records the locations of pages, and moves pages that are about to be used.
#pragma once
#include <string>
#include <vector>

#include "counters/page_counters.hpp"
#include "ferry/core/runtime.hpp"
#include "migration/advice_table.hpp"
#include "migration/array_records.hpp"
#include "migration/fault_batched_pages.hpp"
#include "migration/host_scopes.hpp"
#include "migration/migration_settings.hpp"
#include "migration/migration_streams.hpp"
#include "migration/move_failures.hpp"
#include "migration/move_log.hpp"
#include "migration/move_plan.hpp"
#include "migration/page_eviction.hpp"
#include "migration/page_moves.hpp"
#include "migration/policy_table.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Plans each access. Its parts execute the plan.
class migration_policy final : public access_policy {
 public:
  explicit migration_policy(runtime& m);
  // Returns the policy of the current runtime. Throws not_supported if that has none.
  static migration_policy& current();
  // Null if the runtime has another policy, or none.
  static migration_policy* of(runtime& m) { return dynamic_cast<migration_policy*>(m.policy()); }

  void before_access(const coming_access& a) override;
  void before_copy(const coming_access& a) override;
  bool permits_at_large() const override { return !scopes_.traces_elements(); }
  std::uint64_t hold(allocation& a, byte_range where, bool writes, source_line at, const char* through) override {
    return scopes_.begin_span(a, where, writes, at, through);
  }
  void let_go(allocation& a, std::uint64_t number) noexcept override { scopes_.end(a, number); }
  std::string explain(allocation& a) override;

  // Called before the program prefetches, discards or advises. Throws invalid_argument if the bytes are adopted memory
  // that stands in for a unified array.
  void need_managed(allocation& a, const char* verb);

  migration_settings& settings() { return settings_; }
  const move_failures& failures() const { return failures_; }
  array_records& records() { return records_; }
  page_counters& counters() { return counters_; }
  move_log& log() { return log_; }
  host_scopes& scopes() { return scopes_; }
  advice_table& advice() { return advice_; }
  policy_table& policies() { return policies_; }
  page_moves& moves() { return moves_; }
  page_eviction& eviction() { return eviction_; }

 private:
  bool may_move(const array_record& r) const;
  surroundings around(const array_record& r, const coming_access& a);
  // True if a device other than `who` has incomplete reads of the bytes.
  bool is_read_by_others(allocation& what, byte_range where, int who);
  // Advises the driver about added bytes.
  void advise_grown(allocation& a);
  // Called before pages of an array may move, for any reason.
  void expect_counts(allocation& a);
  // Adds an access and its plan to the report.
  void enter(const coming_access& a, const std::vector<planned>& plan);

  runtime& runtime_;
  migration_settings settings_;
  move_failures failures_;
  array_records records_;
  migration_streams streams_;
  page_counters counters_;
  move_log log_;
  host_scopes scopes_;
  advice_table advice_;
  policy_table policies_;
  page_moves moves_;
  page_eviction eviction_;
  fault_batched_pages fault_batched_;
};

}  // namespace ferry::inline FERRY_ABI::detail
