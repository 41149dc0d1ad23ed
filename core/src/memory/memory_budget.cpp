// memory_budget: the bytes that can still be allocated.
#include <algorithm>
#include <vector>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_status.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/workspace.hpp"
#include "pools/array_blocks.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

std::size_t without(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t saturated_sum(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

}  // namespace

memory_budget::memory_budget(memory_scope scope) : scope_(std::move(scope)) {
  if (!scope_.on) throw invalid_argument("a memory budget without a device: name one with .on");
  (void)runtime::current().properties(scope_.on->index());
  if (!scope_.kind) scope_.kind = memory_kind::device;
}

// Counts bytes that out-of-memory handlers would release as free: see memory_accounting::add_own_handlers.
memory_budget::room memory_budget::look(std::size_t bytes) const {
  runtime& m = runtime::current();
  const memory_accounting& accounting = m.memory();
  const int d = scope_.on->index();
  const memory_kind kind = *scope_.kind;
  room r;
  if (const auto checks = m.checker().settings()) r.zones = 2 * checks->red_zone;
  memory_pool& from = pool_of_new_arrays(m, kind, d, saturated_sum(bytes, r.zones));
  if (const workspace_turn* const w = workspace_scope::current()) {
    r.retained = w->retained_bytes(kind, d);
    r.retained_block = w->block_for(kind, d, bytes);
  }
  r.cost = from.cost_of(saturated_sum(bytes, r.zones));

  struct trim {
    memory_source* of;
    trimmable_bytes bytes;
  };
  std::vector<trim> trims;
  accounting.pools().each([&](memory_source& s) {
    const bool same = s.kind() == kind && (s.device() == d || kind == memory_kind::host);
    const bool other = kind == memory_kind::device
                           ? s.kind() == memory_kind::unified
                           : kind == memory_kind::unified && s.kind() == memory_kind::device && s.device() == d;
    if (!same && !other) return;
    trims.push_back({&s, s.trimmable()});
    if (same) r.trimmable += kind == memory_kind::device ? trims.back().bytes.backend : trims.back().bytes.limits;
    if (&s == &from) r.pieces = trims.back().bytes.pieces;
  });

  if (kind == memory_kind::device) {
    r.from_driver = m.backend().memory(d).free_bytes;
  } else {  // the system's RAM; for unified memory, also the free bytes of the device
    r.from_driver = without(system_memory_bytes(), accounting.pools().bytes_in_system());
    if (kind == memory_kind::unified)
      r.from_driver = saturated_sum(
          r.from_driver, without(m.properties(d).memory_bytes, accounting.limits().used_bytes({scope_.on, {}, {}})));
  }
  const memory_label tag = scope_.tag.empty() ? this_thread_state.tag : intern_tag(scope_.tag);
  const auto rules = accounting.limits().all();
  for (const limit_rule& rule : *rules) {
    if (rule.hard == limit_rule::none || !rule.scope.covers(kind, d)) continue;
    const std::size_t used = accounting.limits().used_bytes(rule.scope);
    if (rule.tag != 0) {
      if (rule.tag == tag) r.by_tags = std::min(r.by_tags, without(rule.hard, used));
      continue;
    }
    std::size_t given_back = 0;
    for (const trim& t : trims)
      if (rule.scope.covers(t.of->kind(), t.of->device())) given_back += t.bytes.limits;
    r.by_limits = std::min(r.by_limits, without(saturated_sum(rule.hard, given_back), used));
  }
  return r;
}

std::size_t memory_budget::available_bytes() const {
  const room r = look(runtime_pools::cache_line + 1);  // of the pool of all but the smallest arrays
  const std::size_t fresh = std::min(saturated_sum(r.from_driver, r.trimmable), r.by_limits);
  const std::size_t of_pools = without(std::min(saturated_sum(fresh, r.pieces), r.cost.most_bytes), r.zones);
  return std::min(saturated_sum(of_pools, r.retained), without(r.by_tags, r.zones));
}

// Returns true without changing anything if the bytes fit. Otherwise first releases what the allocation itself would
// release, because only then the gain is known. Blocks in quarantine merge with others of their pool, and pages of
// cached unified memory may be anywhere.
bool memory_budget::would_fit(std::size_t bytes) const {
  runtime& m = runtime::current();
  const int d = scope_.on->index();
  room r;
  const auto fits = [&] {
    r = look(bytes);
    if (r.retained_block > 0 && r.retained_block <= r.by_tags) return true;
    if (r.cost.block_bytes == SIZE_MAX || r.cost.block_bytes > r.by_tags) return false;
    return r.cost.is_cached || (r.cost.block_bytes <= r.by_limits && r.cost.backend_bytes <= r.cost.most_bytes &&
                                r.cost.backend_bytes <= saturated_sum(r.from_driver, r.trimmable));
  };
  if (fits()) return true;
  if (this_thread_state.submitting || this_thread_state.capture) return false;
  if (r.cost.block_bytes == SIZE_MAX || r.cost.block_bytes > r.by_tags) return false;
  const std::size_t of_arrays = m.memory().arrays().bytes(memory_kind::device, d);
  if (*scope_.kind == memory_kind::device &&
      r.cost.backend_bytes > without(m.backend().memory(d).total_bytes, of_arrays))
    return false;
  if (m.checker().quarantined() > 0) {
    (void)m.checker().release();
    if (fits()) return true;
  }
  if (*scope_.kind != memory_kind::device || r.cost.block_bytes > r.by_limits) return false;
  std::size_t freed = m.trim_lanes(memory_kind::device, d);
  m.memory().pools().each([&](memory_source& s) {
    if (s.kind() == memory_kind::unified) freed += s.release_cached(release_depth::unused);
  });
  return freed > 0 && fits();
}

}  // namespace ferry::inline FERRY_ABI
