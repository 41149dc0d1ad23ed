// The policy of unified arrays: keeps a ledger of pages for each, and moves what is about to be used.
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

namespace ferry {

// What each thread has set for its scope.
struct migration_thread_state {
  std::optional<migration> mode;
  std::string phase;
};
migration_thread_state& this_thread_migration();

// FERRY_CHECK_SPANS; where that is not set, on if everything is checked. Throws parse_error.
span_checks span_checks_of_environment(check_level level);
// Throws parse_error.
element_traces element_traces_of_environment();

// Throws invalid_argument if nobody could work with them.
void check_options(const migration_options& o, const std::string& whose);

class migration_policy final : public access_policy {
 public:
  explicit migration_policy(runtime& m);
  ~migration_policy() override;
  // The current machine's.
  static migration_policy& current();
  // Null if the machine has another policy, or none.
  static migration_policy* of(runtime& m) { return dynamic_cast<migration_policy*>(m.policy()); }

  void before_access(const coming_access& a) override;
  void before_copy(const coming_access& a) override;
  bool permits_at_large() const override { return !traces_elements_.load(std::memory_order_relaxed); }
  std::string explain(allocation& a) override;

  // The CPU works on a range from now on, until the end of the scope of that number. Pages stay with it while it is in a
  // guard's scope; spans, which are followed only where that is checked, change nothing but what is refused.
  std::uint64_t begin_scope(allocation& a, byte_range where, bool writes, source_line at);
  void end_scope(allocation& a, std::uint64_t scope) noexcept;
  std::uint64_t hold(allocation& a, byte_range where, bool writes, source_line at, const char* through) override;
  void let_go(allocation& a, std::uint64_t number) noexcept override { end_scope(a, number); }
  void set_span_checks(span_checks how);
  void set_element_traces(element_traces how);

  // The program's own prefetches, discards and advice.
  void sent(allocation& a, byte_range where, memory_location to);
  void forget(allocation& a, byte_range where);
  bool is_managed(allocation& a);
  // Throws invalid_argument if the bytes are memory of the program that stands in for a unified array.
  void need_managed(allocation& a, const char* verb);
  // The range without the pages that guards keep with the CPU.
  std::vector<byte_range> without_kept(allocation& a, byte_range where);
  void advised(allocation& a, byte_range where, memory_advice what, memory_location place);
  // Advice that ends: then what else was advised of the same bytes holds, and the driver is told so.
  std::uint64_t begin_advice(allocation& a, byte_range where, memory_advice what, memory_location place);
  void end_advice(allocation& a, std::uint64_t number);
  // What the ledger says of a range.
  std::vector<page_run> runs(allocation& a, byte_range where);
  // Calls f(place, bytes) for parts of the runs, by address: where the ledger or else the driver believes them to be.
  void each_place(std::span<const page_run> runs, const std::function<void(int, byte_range)>& f) const;

  // What the range holds now may be lost when memory runs out, until the array is used again.
  void mark_discardable(allocation& a, byte_range where);
  bool is_discardable(allocation& a, byte_range where);
  // Two rungs of the ladder (see reclaim_handler): the contents of what was offered go, the longest unused first; or pages go
  // to the CPU with what they hold. Only those that nobody uses.
  std::size_t drop_discardable(const memory_demand& d) { return evict(d, page_step::drop); }
  std::size_t move_out(const memory_demand& d) { return evict(d, page_step::move); }

  void set_mode(migration how) { mode_.store(how); }
  void set_mode(allocation& a, migration how);
  // None: the array has the one of its name, if there is any. (policy_table.cpp has these.)
  void set_policy(allocation& a, std::optional<array_policy> p);
  std::optional<array_policy> policy(allocation& a);
  std::optional<array_policy> own_policy(allocation& a);  // by set_policy only
  // `from` says in errors where they are from.
  void use(const array_policies& p, const std::string& from);
  std::vector<std::string> unmet();
  // For whoever tries policies on an array that nobody uses meanwhile: what is known of its pages, and back to that; the
  // pages themselves are the caller's.
  page_map accounting(allocation& a);
  void set_ledger(allocation& a, const page_map& before);
  // Blocks until pages that are on their way to the CPU are there.
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
  // Of a policy that the array has got. If the driver refuses it, the array has what it had before, and this throws.
  void tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own);
  void tell_driver_of_growth(allocation& a);
  void tell_driver(allocation& a);
  void tell_driver(byte_range where, memory_advice what, memory_location place);
  static void mark_advised(record& r, byte_range where, memory_advice what, memory_location place);
  static coming_access ahead_of(const coming_access& a, byte_range all);
  surroundings around(const record& r, const coming_access& a);
  // Whether a device other than `who` still reads the bytes.
  bool is_read_by_others(allocation& what, byte_range where, int who);
  // Whether that is a stream of this object, to or from the CPU.
  bool moves_pages(const timeline* line) const;
  void carry_out(const coming_access& a, const std::vector<planned>& plan);
  void send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what);
  timeline& stream_to_cpu(int device, bool migration_only = false);
  std::uint64_t add_scope(allocation& a, byte_range where, bool writes, source_line at, const char* through,
                          bool keeps_pages);
  static void refuse_conflict(const record& r, const coming_access& a);
  void stop_arrival(record& r);
  bool arrives_beside_loop(const coming_access& a, const std::vector<planned>& plan);
  // Moves that failed so often would do so for ever: automatic migration ends, and says so.
  void failed_to_move(const std::string& why);
  // Why it has ended; nothing if it has not.
  std::string why_ended() const;
  void enter(const coming_access& a, const std::vector<planned>& plan);
  migration_entry& entry_of(allocation& a);
  // Before pages of an array may move, for whatever reason.
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
  mutable std::mutex mutex_;  // options_, records_, to_cpu_, entries_
  migration_options options_;
  std::atomic<std::size_t> page_{migration_options{}.page};
  std::atomic<std::uint64_t> scopes_{0};
  std::atomic<bool> checks_spans_{false};
  std::atomic<bool> traces_elements_{false};  // every access to an element asks
  int failures_ = 0;                          // with the mutex; and the last one of those that were too many
  std::string why_broken_;
  std::atomic<bool> broken_{false};  // prefetches failed: from now on nothing is moved
  std::unordered_map<const allocation*, std::unique_ptr<record>> records_;  // one a node, for good
  std::map<std::pair<int, bool>, timeline*> to_cpu_;                        // by device, and whether it serves
  std::map<int, timeline*> out_of_;                                         // by device: for pages that make room
  std::atomic<std::uint64_t> uses_{1};                                      // changes of the array that was used last
  std::uint64_t handlers_[2] = {};
  std::map<std::pair<std::string, std::string>, migration_entry> entries_;
  array_policies policies_;  // by name, and of these the names that arrays had; with the mutex, too
  std::set<std::string> met_;
  std::atomic<std::uint64_t> policies_given_{0};  // so often; 0: there are none
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
  std::uint64_t used = 0;  // at which count of uses_
  // What the program has offered, as long as the log's counter stands at that number.
  std::vector<byte_range> discardable;
  std::uint64_t discardable_at = 0;
  bool is_managed = true;    // borrowed memory may be the program's own, which nobody moves
  bool is_borrowed = false;  // and so may grow
  bool has_grown = false;    // and the driver has not heard of its policy there
  std::optional<migration> mode;
  std::optional<array_policy> policy;
  bool has_own_policy = false;       // by set_policy: names do not count
  std::uint64_t policies_asked = 0;  // of policies_given_, for the name that the array had then
  std::string name_asked;
  struct advice_given {
    byte_range where;
    memory_advice what;
    memory_location place;
    std::uint64_t number = 0;  // of advice that ends
  };
  std::vector<advice_given> advice;  // the program's own, that it has not taken back
  // All that holds, in the order in which the driver is told: a policy's after the program's.
  std::vector<advice_given> advice_that_holds() const;
  page_map pages;
  std::vector<cpu_touch> touches;
  std::shared_ptr<arrival> arriving;  // on the way to the CPU, or come
  struct host_scope {
    std::uint64_t number;
    byte_range where;
    bool writes;
    source_line at;
    const char* through;
    bool keeps_pages;
    bool is_unified;
  };
  std::vector<host_scope> scopes;  // what the CPU works on now
  template <class Which>
  void drop_scopes(Which which) {
    std::erase_if(scopes, [&](const host_scope& h) {
      if (!which(h)) return false;
      if (!h.is_unified) held_beside_unified.fetch_sub(1, std::memory_order_relaxed);
      return true;
    });
  }
  // Whether pages of these bytes stay where they are until the CPU is done with them.
  bool keeps(byte_range where) const {
    return std::any_of(scopes.begin(), scopes.end(),
                       [&](const host_scope& h) { return h.keeps_pages && h.where.overlaps(where); });
  }

  // The usual case: all pages are there, and have been for long, but for parts of pages that are mapped. Nothing would
  // change.
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

}  // namespace ferry
