// The access policy of unified arrays: records the locations of pages, and moves pages that are about to be used.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "counters/page_counters.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/unified/automatic.hpp"
#include "ferry/unified/host_guard.hpp"
#include "ferry/unified/policy_file.hpp"
#include "ferry/unified/report.hpp"
#include "migration/fault_batched_pages.hpp"
#include "migration/host_prefetcher.hpp"
#include "migration/move_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Settings of the calling thread's scopes.
struct migration_thread_state {
  std::optional<migration> mode;
  std::string phase;
};
migration_thread_state& this_thread_migration();

// Reads FERRY_CHECK_SPANS. If that is not set, spans are checked at check_level::all. Throws parse_error.
span_checks span_checks_of_environment(check_level level);
// Reads FERRY_TRACE_ELEMENTS. Throws parse_error.
element_traces element_traces_of_environment();

// Throws invalid_argument for options that cannot work. whose: their origin, for the error text.
void check_options(const migration_options& o, const std::string& whose);

class migration_policy final : public access_policy {
 public:
  explicit migration_policy(runtime& m);
  ~migration_policy() override;
  // Returns the policy of the current runtime. Throws not_supported if that has none.
  static migration_policy& current();
  // Null if the runtime has another policy, or none.
  static migration_policy* of(runtime& m) { return dynamic_cast<migration_policy*>(m.policy()); }

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
  void sent(allocation& a, byte_range where, memory_location to);
  void forget(allocation& a, byte_range where);
  bool is_managed(allocation& a);
  // Throws invalid_argument if the bytes are adopted memory that stands in for a unified array.
  void need_managed(allocation& a, const char* verb);
  // Returns the range without the pages that guards pin to the CPU.
  std::vector<byte_range> without_kept(allocation& a, byte_range where);
  void advised(allocation& a, byte_range where, memory_advice what, memory_location place);
  // Advice for a scope. At its end, the driver receives the remaining advice for the same bytes again.
  std::uint64_t begin_advice(allocation& a, byte_range where, memory_advice what, memory_location place);
  void end_advice(allocation& a, std::uint64_t number);
  // Returns the page records of a range.
  std::vector<page_run> runs(allocation& a, byte_range where);
  // Calls f(place, bytes) for parts of the runs, by address. The place comes from the page records, or else from the
  // driver.
  void each_place(std::span<const page_run> runs, const std::function<void(int, byte_range)>& f) const;

  // Marks the current contents as discardable when memory runs out, until the next use of the array.
  void mark_discardable(allocation& a, byte_range where);
  bool is_discardable(allocation& a, byte_range where);
  // Two out-of-memory handlers (see reclaim_handler): drop discardable contents, least recently used first, or move
  // pages to the CPU with their contents. They take only unused pages, and return the bytes that they freed.
  std::size_t drop_discardable(const memory_demand& d) { return evict(d, page_step::drop); }
  std::size_t move_out(const memory_demand& d) { return evict(d, page_step::move); }

  void set_mode(migration how) { mode_.store(how); }
  void set_mode(allocation& a, migration how);
  // Without a policy: the array has that of its name, if any. (policy_table.cpp defines these.)
  void set_policy(allocation& a, std::optional<array_policy> p);
  std::optional<array_policy> policy(allocation& a);
  std::optional<array_policy> own_policy(allocation& a);  // set by set_policy only
  // from: the origin of the policies, for error texts.
  void use(const array_policies& p, const std::string& from);
  std::vector<std::string> unmet();
  // For a tuner that tries policies on an array without other users: returns the page records, and restores them. The
  // caller restores the pages themselves.
  page_map accounting(allocation& a);
  void set_ledger(allocation& a, const page_map& before);
  // Blocks until a host prefetch in progress has ended.
  void wait_for_arrival(allocation& a);

  void set_options(const migration_options& o);
  migration_options options() const;
  migration_report report();
  void reset_report();
  void set_counters(migration_counters how) { counters_.set(how); }

 private:
  struct record;
  record& record_of(allocation& a);
  record& find_record(allocation& a);
  bool may_move(const record& r) const;
  migration_options options_of(const record& r) const;
  void use_environment();
  void take_policy(allocation& a);
  // Advises the driver for a policy that the array has received. If the driver refuses, restores the previous policy
  // and throws.
  void tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own);
  void tell_driver_of_growth(allocation& a);
  void tell_driver(allocation& a);
  void tell_driver(byte_range where, memory_advice what, memory_location place);
  static void mark_advised(record& r, byte_range where, memory_advice what, memory_location place);
  static coming_access ahead_of(const coming_access& a, byte_range all);
  surroundings around(const record& r, const coming_access& a);
  // True if a device other than `who` has incomplete reads of the bytes.
  bool is_read_by_others(allocation& what, byte_range where, int who);
  // True if it is a stream of this object, to the CPU or out of a device.
  bool moves_pages(const timeline* line) const;
  void carry_out(const coming_access& a, const std::vector<planned>& plan);
  void send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what);
  timeline& stream_to_cpu(int device, bool migration_only = false);
  std::uint64_t add_scope(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                          bool keeps_pages);
  static void refuse_conflict(const record& r, const coming_access& a);
  void stop_arrival(record& r);
  bool arrives_beside_loop(const coming_access& a, const std::vector<planned>& plan);
  // Counts failed moves. After too many, ends automatic migration and prints why.
  void failed_to_move(const std::string& why);
  // Returns why automatic migration has ended; empty if it has not.
  std::string why_ended() const;
  void enter(const coming_access& a, const std::vector<planned>& plan);
  migration_entry& entry_of(allocation& a);
  // Called before pages of an array may move, for any reason.
  void expect_counts(allocation& a) {
    if (counters_.is_on()) counters_.used(a, this_thread_migration().phase);
  }
  // An array with pages on a device that is short of memory.
  struct candidate {
    record* of;
    std::uint64_t used;
  };
  std::size_t evict(const memory_demand& d, page_step how);
  std::vector<candidate> candidates(page_step how);
  std::size_t take_from(record& r, const memory_demand& d, page_step how, std::size_t enough);
  bool send_away(record& r, byte_range where, int device, page_step how, std::uint64_t& access_epoch);
  timeline& stream_out_of(int device);
  void used_now(record& r);

  runtime& runtime_;
  std::atomic<migration> mode_;
  // Guards options_, records_, to_cpu_, out_of_, entries_, policies_, met_, failures_ and why_broken_.
  mutable std::mutex mutex_;
  migration_options options_;
  std::atomic<std::size_t> page_{migration_options{}.page};
  std::atomic<std::uint64_t> scopes_{0};
  std::atomic<bool> checks_spans_{false};
  std::atomic<bool> traces_elements_{false};  // every access to an element is checked
  int failures_ = 0;                          // guarded by mutex_; why_broken_: the last of too many failures
  std::string why_broken_;
  std::atomic<bool> broken_{false};  // too many moves failed: automatic migration has ended
  std::unordered_map<const allocation*, std::unique_ptr<record>> records_;  // one for each node, never removed
  std::map<std::pair<int, bool>, timeline*> to_cpu_;  // by device, and whether it is migration-only
  std::map<int, timeline*> out_of_;                   // by device: for pages that are evicted
  std::atomic<std::uint64_t> uses_{1};                // counts changes of the most recently used array
  std::uint64_t handlers_[2] = {};
  std::map<std::pair<std::string, std::string>, migration_entry> entries_;
  array_policies policies_;  // policies by name, and in met_ the names that arrays have had; guarded by mutex_
  std::set<std::string> met_;
  std::atomic<std::uint64_t> policies_given_{0};  // number of calls of use(); 0: no policies
  page_counters counters_;
  host_prefetcher host_prefetcher_;
  fault_batched_pages fault_batched_;
};

struct migration_policy::record {
  explicit record(allocation& a) : what(a) {}
  ~record() {
    drop_scopes([](const host_scope&) { return true; });
  }
  allocation& what;  // the node
  spin_lock lock;
  std::uint64_t generation = ~std::uint64_t{0};
  std::uint64_t used = 0;  // value of uses_ at the last use
  // Ranges with discardable contents, valid while the access epoch equals discardable_at.
  std::vector<byte_range> discardable;
  std::uint64_t discardable_at = 0;
  bool is_managed = true;    // false: borrowed memory of the program, which does not move
  bool is_borrowed = false;  // its range may grow
  bool has_grown = false;    // the driver has no advice for the added bytes
  std::optional<migration> mode;
  std::optional<array_policy> policy;
  bool has_own_policy = false;       // by set_policy: policies by name do not apply
  std::uint64_t policies_asked = 0;  // value of policies_given_ at the last lookup, for name_asked
  std::string name_asked;
  struct advice_given {
    byte_range where;
    memory_advice what;
    memory_location place;
    std::uint64_t number = 0;  // of advice for a scope, else 0
  };
  std::vector<advice_given> advice;  // advice of the program that it has not removed
  // Returns all valid advice in the order for the driver: that of the policy after that of the program.
  std::vector<advice_given> advice_that_holds() const;
  page_map pages;
  std::vector<cpu_touch> touches;
  std::shared_ptr<arrival> arriving;  // host prefetch, in progress or complete
  struct host_scope {
    std::uint64_t number;
    byte_range where;
    bool writes;
    source_line at;
    const char* through;
    bool keeps_pages;
    bool is_unified;
  };
  std::vector<host_scope> scopes;  // current accesses of the CPU
  template <class Which>
  void drop_scopes(Which which) {
    std::erase_if(scopes, [&](const host_scope& h) {
      if (!which(h)) return false;
      if (!h.is_unified) held_beside_unified.fetch_sub(1, std::memory_order_relaxed);
      return true;
    });
  }
  // True if guards pin pages of these bytes to the CPU.
  bool keeps(byte_range where) const {
    return std::any_of(scopes.begin(), scopes.end(),
                       [&](const host_scope& h) { return h.keeps_pages && h.where.overlaps(where); });
  }

  // Fast path: all pages are there and have been used there many times in a row, except for parts of pages that are
  // mapped. The access changes nothing.
  bool is_settled_at(int place, byte_range where, std::size_t page) const {
    for (const page_run& g : pages.runs()) {
      if (!g.range().overlaps(where)) continue;
      if (g.by_elements) return false;
      if (g.where == place && g.user == place && g.streak == longest_streak) continue;
      const auto part = std::min(g.end, where.end) - std::max(g.begin, where.begin);
      if (place < 0 || g.where < 0 || !(g.mapped >> (place & 63) & 1) || static_cast<std::size_t>(part) >= page)
        return false;
    }
    return true;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
