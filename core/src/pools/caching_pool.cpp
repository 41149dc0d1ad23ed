#include "pools/caching_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_limits.hpp"
#include "support/memory_sizes.hpp"
#include "support/thread_number.hpp"

namespace ferry::inline FERRY_ABI::detail {

caching_pool::rules caching_pool::rules_of(pool_kind k) {
  switch (k) {
    case pool_kind::binned: return {true, true, false};
    case pool_kind::simple: return {false, false, false};
    default: return {false, true, true};
  }
}

caching_pool::caching_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options)
    : memory_pool(accounting, kind, device, options),
      backend_(accounting.backend()),
      rules_(rules_of(options.kind)),
      staggers_(kind == memory_kind::unified && backend_.quirks().aligned_arrays_delay_loads && rules_.joins &&
                stagger % options.granularity == 0),
      memory_bytes_(kind == memory_kind::host ? system_memory_bytes() : backend_.properties(device).memory_bytes),
      nodes_(*this, kind, device) {}

caching_pool::~caching_pool() {
  try {
    trim();
  } catch (const error&) {  // a failed device: process exit frees its memory
  }
}

pool_shard& caching_pool::shard() { return shards_[this_thread_number() % shards]; }

std::size_t caching_pool::rounded(std::size_t bytes) const {
  const std::size_t size = rounded_up(std::max<std::size_t>(bytes, 1), options_.granularity);
  return rules_.powers_of_two ? std::bit_ceil(size) : size;
}

allocation_ref caching_pool::allocate(std::size_t bytes) {
  if (this_thread_state.submitting) refuse_inside_submission("allocate");
  const std::size_t size = rounded(bytes);
  tag_reservation booked = accounting_.before_allocate(*this, size);
  const timeline* const on = this_thread_state.last_timeline;
  pool_shard& near = shard();
  bool others = false;  // near has a block, but work on it would wait
  allocation* a = near.take(size, on, others);
  if (!a) a = take_stored(size, on, others ? search::ready : search::quick);
  if (!a && others) a = near.take_any(size);
  if (!a) a = grow(size, on);
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
  if (allocation* const out = shard().put(a)) store(out);
}

// True if a block of at least `size` bytes may be used for a request of that size.
bool caching_pool::fits(std::size_t block, bool was_used, std::size_t size) const {
  if (!rules_.cuts) return block - size <= std::max(size / 8, options_.granularity);
  if (rules_.powers_of_two && was_used) return block == size;
  if (size > options_.max_split_size) return block - size <= options_.large_segment;
  return block <= options_.max_split_size;
}

// Returns a free block, cut to size, or null. ready: only a block for which work on `on` need not wait. thorough:
// searches all blocks. tight: also accepts a block that shares pages with its neighbours.
allocation* caching_pool::take_stored(std::size_t size, const timeline* on, search how) {
  std::lock_guard lock(mutex_);
  allocation* a = free_.find(
      size, on,
      [&](const allocation& b) {
        return fits(b.bytes, b.was_used, size) &&
               (how == search::tight || gap_before(b.range(), b.before, b.after, size).has_value());
      },
      how >= search::thorough);
  if (!a || (how == search::ready && !a->history.is_ready_for(on))) return nullptr;
  free_.remove(*a);
  try {
    a = &placed(*a, size);
    cut(*a, size);
  } catch (...) {
    free_.add(*a);
    throw;
  }
  a->was_used = true;
  counts_.allocated(a->bytes);
  return a;
}

// Cuts a block that is in no list. Both parts inherit the uses that overlap them (R12). If it throws, the block is
// unchanged.
void caching_pool::cut(allocation& a, std::size_t size) {
  if (a.bytes == size || !rules_.cuts || a.bytes > options_.max_split_size) return;
  if (rules_.powers_of_two && a.was_used) return;
  allocation& rest = nodes_.take();
  rest.begin = a.begin + size;
  rest.bytes = a.bytes - size;
  try {
    rest.history.merge(a.history);
  } catch (...) {
    nodes_.give_back(rest);
    throw;
  }
  rest.history.clip_to(rest.range());
  rest.before = &a;
  rest.after = a.after;
  if (rest.after) rest.after->before = &rest;
  rest.tag = a.tag;
  a.after = &rest;
  a.bytes = size;
  a.history.clip_to(a.range());
  free_.add(rest);
}

// Returns the number of bytes that stay free before a block of `size` bytes within a free one. The gap places the block
// at its stagger offset, and a large block shares no page. Empty if there is no room for that.
std::optional<std::size_t> caching_pool::gap_before(byte_range free, const allocation* before, const allocation* after,
                                                    std::size_t size) const {
  if (!staggers_) return 0;
  const auto is_large = [](const allocation* a) { return a && !a->is_free && a->bytes >= page; };
  const auto address = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool large = size >= page;
  const std::size_t at_begin = large || is_large(before) ? -address(free.begin) % page : 0,
                    at_end = is_large(after) || (large && after && !after->is_free) ? address(free.end) % page : 0;
  if (free.size() < size || free.size() - size < at_begin + at_end) return {};
  const std::size_t place = staggered_ * stagger % stagger_period, rest = free.size() - size - at_begin - at_end;
  if (size < least_staggered) return at_begin;
  return at_begin + std::min(large ? place : (place - address(free.begin) - at_begin) % stagger_period, rest);
}

// Returns the part of a block that a request is cut from. The block is in no list. If it throws, the block is
// unchanged.
allocation& caching_pool::placed(allocation& a, std::size_t size) {
  const std::size_t gap = gap_before(a.range(), a.before, a.after, size).value_or(0);
  if (staggers_ && size >= least_staggered) ++staggered_;
  if (gap == 0) return a;
  cut(a, gap);
  if (a.bytes != gap) return a;  // the block is never cut
  allocation& rest = *a.after;
  free_.remove(rest), free_.add(a);
  return rest;
}

void caching_pool::store(allocation* chain) noexcept {
  std::lock_guard lock(mutex_);
  while (chain) {
    allocation& a = *chain;
    chain = a.next;
    free_.add(rules_.joins ? join(a) : a);
  }
}

allocation& caching_pool::join(allocation& a) noexcept {
  if (a.after && a.after->is_free) {
    allocation& next = *a.after;
    free_.remove(next);
    if (!swallow_next(a)) free_.add(next);
  }
  if (!a.before || !a.before->is_free) return a;
  allocation& before = *a.before;
  free_.remove(before);
  if (swallow_next(before)) return before;
  free_.add(before);
  return a;
}

// Returns false if there is no memory for the merged history: the two blocks are then unchanged.
bool caching_pool::swallow_next(allocation& a) noexcept {
  allocation& next = *a.after;
  try {
    a.history.merge(next.history);
  } catch (const std::bad_alloc&) {
    return false;
  }
  a.tag = std::max(a.tag, next.tag);  // as old as its youngest part
  a.bytes += next.bytes;
  a.after = next.after;
  if (a.after) a.after->before = &a;
  nodes_.give_back(next);
  return true;
}

void caching_pool::drain_shards() noexcept {
  for (pool_shard& s : shards_)
    if (allocation* const all = s.drain()) store(all);
}

}  // namespace ferry::inline FERRY_ABI::detail
