#include "pools/caching_pool.hpp"

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "pools/block_uses.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// True if large blocks begin at staggered offsets, for loops on the CPU.
bool staggers(const detail::backend& backend, memory_kind kind, const block_rules& rules) {
  return kind == memory_kind::unified && backend.quirks().aligned_arrays_delay_loads && rules.joins();
}

}  // namespace

caching_pool::caching_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options)
    : memory_pool(accounting, kind, device, options),
      rules_(options),
      blocks_(*this, kind, device, rules_, {staggers(accounting.backend(), kind, rules_), options.granularity}),
      segments_(*this, accounting, options_, rules_.joins(), shards_, blocks_) {}

caching_pool::~caching_pool() {
  try {
    trim();
  } catch (const error&) {  // a failed device: process exit frees its memory
  }
}

allocation_ref caching_pool::allocate(std::size_t bytes) {
  if (this_thread_state.submitting) refuse_inside_submission("allocate");
  const std::size_t size = rules_.rounded(bytes);
  tag_reservation booked = accounting_.before_allocate(*this, size);
  const timeline* const on = this_thread_state.last_timeline;
  pool_shard& near = shards_.mine();
  bool others = false;  // near has a block, but work on it would wait
  using search = segment_blocks::search;
  allocation* a = near.take(size, on, others);
  if (!a) a = blocks_.take(size, on, others ? search::ready : search::quick);
  if (!a && others) a = near.take_any(size);
  if (!a) a = &segments_.grow(size, on);
  set_labels(*a, 0);
  a->history.change_owner();  // earlier host access checks do not apply to this array
  allocation_ref r = allocation_ref::first(*a);
  accounting_.allocated(*a, booked);
  return r;
}

void caching_pool::deallocate(allocation& a) noexcept {
  take_from_owner(a);
  if (options_.gc_threshold)  // a block's age is in its tag
    set_labels(a, clock_.fetch_add(1, std::memory_order_relaxed) & ~allocation_labels::aside);
  if (allocation* const out = shards_.mine().put(a)) blocks_.store(out);
}

std::size_t caching_pool::release_cached(release_depth how) { return release_some(how, SIZE_MAX); }

std::size_t caching_pool::release_some(release_depth how, std::size_t enough) {
  refuse_inside_submission("trim a pool");
  return segments_.release(how, enough);
}

// Blocks in shards are neither in use nor in the index of free ones. They are reported as free.
void caching_pool::each_block(const std::function<void(const block_info&)>& f) const {
  blocks_.each_segment([&](const allocation& first) {
    for (const allocation* a = &first; a; a = a->after) f(info_of(*a));
  });
}

request_cost caching_pool::cost_of(std::size_t bytes) const {
  if (bytes > most_bytes_at_once) return {SIZE_MAX, false, SIZE_MAX};
  const std::size_t size = rules_.rounded(bytes);
  return {size, blocks_.can_serve(size), size};
}

trimmable_bytes caching_pool::trimmable() const {
  std::size_t whole = 0, pieces = 0;
  blocks_.each_segment([&](const allocation& first) {
    std::size_t free = 0;
    bool is_whole = true;
    for (const allocation* a = &first; a; a = a->after)
      if (is_taken(*a))
        is_whole = false;
      else
        free += a->bytes;
    (is_whole ? whole : pieces) += free;
  });
  return {whole, whole, pieces};
}

source_state caching_pool::state() const {
  const pool_statistics s = statistics();
  return {s.allocated_bytes, s.reserved_bytes, blocks_.largest_free()};
}

pool_statistics caching_pool::statistics() const {
  const pool_counts near = shards_.counts();
  pool_statistics all = blocks_.statistics();
  all.allocated_bytes += near.bytes;
  all.allocations += near.allocations;
  all.made += near.made;
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
