#include "caching_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>

#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "memory_sizes.hpp"
#include "thread_number.hpp"

namespace ferry {
namespace {

// Segments grow with the pool up to this size.
constexpr std::size_t most_shared_segment = std::size_t{256} << 20;
// Who asks for so much gets a segment of its own, and what it replaces goes back: free segments that are too small for
// large requests would pile up. Measured on random sizes to 1 GiB: a peak of 1.26 instead of 1.36 times what is in use.
constexpr std::size_t huge = std::size_t{128} << 20;
// Unified memory moves by pages of 2 MiB: blocks from this size on share none with others, unless memory is short.
constexpr std::size_t page = std::size_t{2} << 20;
bool is_large(const allocation* a) { return a && !a->is_free && a->bytes >= page; }
// A CPU makes a load wait for what it stored just before as long as the lowest 20 bits of their physical addresses agree
// (S. Islam et al., "SPOILER: Speculative Load Hazards Boost Rowhammer and Cache Attacks", USENIX Security 2019, section 3).
// Managed memory is contiguous by pages, so that it happens in every stencil from one array to another if both begin on an
// edge: 5 times slower on a Xeon of 2023, where 256 bytes of difference were enough. So blocks of unified memory from 256
// KiB on begin at 32 different places of 16 KiB in turn.
constexpr std::size_t stagger = 1536, stagger_period = std::size_t{16} << 10;
constexpr std::size_t least_staggered = std::size_t{256} << 10;

}  // namespace

caching_pool::rules caching_pool::rules_of(pool_kind k) {
  switch (k) {
    case pool_kind::binned: return {true, true, false};
    case pool_kind::simple: return {false, false, false};
    default: return {false, true, true};
  }
}

caching_pool::caching_pool(memory_ledger& ledger, memory_kind kind, int device, const pool_options& options)
    : memory_pool(ledger, kind, device, options),
      verbs_(ledger.verbs()),
      rules_(rules_of(options.kind)),
      staggers_(kind == memory_kind::unified && rules_.joins && stagger % options.granularity == 0),
      memory_bytes_(memory_behind(verbs_, kind, device)),
      nodes_(*this, kind, device) {}

caching_pool::~caching_pool() {
  try {
    trim();
  } catch (const error&) {  // a broken device: its memory goes with the process
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
  tag_booking booked = ledger_.before_allocate(*this, size);
  const timeline* const on = this_thread_state.line;
  pool_shard& near = shard();
  bool others = false;  // near has a block, but work on it would wait
  allocation* a = near.take(size, on, others);
  if (!a) a = take_stored(size, on, others ? search::ready : search::quick);
  if (!a && others) a = near.take_any(size);
  if (!a) a = grow(size, on);
  set_labels(*a, 0);
  a->log.change_owner();  // what another owner's array had asked does not hold for this one
  allocation_ref r = allocation_ref::first(*a);
  ledger_.allocated(*a, booked);
  return r;
}

void caching_pool::deallocate(allocation& a) noexcept {
  take_from_owner(a);
  if (options_.gc_threshold)  // its age
    set_labels(a, clock_.fetch_add(1, std::memory_order_relaxed) & ~allocation_labels::aside);
  if (allocation* const out = shard().put(a)) store(out);
}

// Whether a block, of at least `size` bytes, serves a request of that size.
bool caching_pool::fits(std::size_t block, bool was_used, std::size_t size) const {
  if (!rules_.cuts) return block - size <= std::max(size / 8, options_.granularity);
  if (rules_.powers_of_two && was_used) return block == size;
  if (size > options_.max_split_size) return block - size <= options_.large_segment;
  return block <= options_.max_split_size;
}

// A free block, cut to size. ready: only one for which work on `on` need not wait. thorough: if there is any, it is found.
// tight: also one that shares pages with its neighbours.
allocation* caching_pool::take_stored(std::size_t size, const timeline* on, search how) {
  std::lock_guard lock(mutex_);
  allocation* a = free_.find(
      size, on,
      [&](const allocation& b) {
        return fits(b.bytes, b.was_used, size) &&
               (how == search::tight || gap_before(b.range(), b.before, b.after, size).has_value());
      },
      how >= search::thorough);
  if (!a || (how == search::ready && !a->log.is_ready_for(on))) return nullptr;
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

// A block that is in no list. Both parts keep the uses that overlap them (R12). If it throws, the block is as it was.
void caching_pool::cut(allocation& a, std::size_t size) {
  if (a.bytes == size || !rules_.cuts || a.bytes > options_.max_split_size) return;
  if (rules_.powers_of_two && a.was_used) return;
  allocation& rest = nodes_.take();
  rest.begin = a.begin + size;
  rest.bytes = a.bytes - size;
  try {
    rest.log.inherit(a.log);
  } catch (...) {
    nodes_.give_back(rest);
    throw;
  }
  rest.log.keep_only(rest.range());
  rest.before = &a;
  rest.after = a.after;
  if (rest.after) rest.after->before = &rest;
  rest.tag = a.tag;
  a.after = &rest;
  a.bytes = size;
  a.log.keep_only(a.range());
  free_.add(rest);
}

// What stays free before a block of `size` bytes within a free one, so that it begins at its place and a large block shares no
// page; nothing if there is no room for that.
std::optional<std::size_t> caching_pool::gap_before(byte_range free, const allocation* before, const allocation* after,
                                                    std::size_t size) const {
  if (!staggers_) return 0;
  const auto address = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool large = size >= page;
  const std::size_t at_begin = large || is_large(before) ? -address(free.begin) % page : 0,
                    at_end = is_large(after) || (large && after && !after->is_free) ? address(free.end) % page : 0;
  if (free.size() < size || free.size() - size < at_begin + at_end) return {};
  const std::size_t place = staggered_ * stagger % stagger_period, rest = free.size() - size - at_begin - at_end;
  if (size < least_staggered) return at_begin;
  return at_begin + std::min(large ? place : (place - address(free.begin) - at_begin) % stagger_period, rest);
}

// The part of a block, which is in no list, that a request is cut from. If it throws, the block is as it was.
allocation& caching_pool::placed(allocation& a, std::size_t size) {
  const std::size_t gap = gap_before(a.range(), a.before, a.after, size).value_or(0);
  if (staggers_ && size >= least_staggered) ++staggered_;
  if (gap == 0) return a;
  cut(a, gap);
  if (a.bytes != gap) return a;  // is never cut
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

// Not if there is no memory for the joined log: then the two stay as they are.
bool caching_pool::swallow_next(allocation& a) noexcept {
  allocation& next = *a.after;
  try {
    a.log.inherit(next.log);
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

// Of at least 1/32 of what the pool holds: so many blocks share a segment, and little is reserved beyond the need.
std::size_t caching_pool::segment_for(std::size_t size) {
  if (!rules_.cuts || size > options_.max_split_size / 2) return size;
  const bool large = staggers_ && size >= page;
  const std::size_t stride = large ? rounded_up(size + stagger_period, page) : size;
  std::size_t segment = size <= options_.small_segment / 16 ? options_.small_segment : options_.large_segment,
              place = 0;
  {
    std::lock_guard lock(mutex_);
    segment = std::max(segment, std::min(std::bit_floor(reserved_ / 32), most_shared_segment));
    if (large) place = staggered_ * stagger % stagger_period;
  }
  segment = std::min(segment, options_.max_split_size);
  if (stride > segment / 2) return rounded_up(size + place, options_.granularity);
  return rounded_up(large ? segment / stride * stride : segment, options_.granularity);
}

// Takes a segment from the backend, unless what the shards hold will do. Nothing is locked while the ladder is climbed.
allocation* caching_pool::grow(std::size_t size, const timeline* on) {
  std::size_t segment = segment_for(size);
  void* p = nullptr;
  allocation* found = nullptr;
  try {
    std::lock_guard one(growing_);
    drain_shards();
    if ((found = take_stored(size, on, search::thorough))) return found;
    if (size >= huge && rules_.joins) give_back(leave_whole_segments(), release_depth::finished, size);
    collect_garbage(segment);
    ledger_.acquire_once(*this, segment, [&] { p = verbs_.allocate(kind_, device_, segment); });
  } catch (const out_of_memory&) {
    segment = size;  // no spare room this time
    const auto ask_backend = [&] {
      std::lock_guard one(growing_);
      p = verbs_.allocate(kind_, device_, segment);
    };
    const auto look_again = [&] {
      std::lock_guard one(growing_);
      drain_shards();
      return (found = take_stored(size, on, search::tight)) != nullptr;
    };
    // Of blocks that are never joined no more than is asked for: the ladder gives back all, and the sizes that come next
    // would have to be made again.
    const auto in_exchange = [&] {
      std::lock_guard one(growing_);
      if (rules_.joins || give_back(leave_whole_segments(), release_depth::finished, segment) == 0) return false;
      try {
        ledger_.acquire_once(*this, segment, [&] { p = verbs_.allocate(kind_, device_, segment); });
        return true;
      } catch (const out_of_memory&) {
        return false;
      }
    };
    if (look_again()) return found;
    if (!in_exchange() && !ledger_.acquire(*this, segment, ask_backend, look_again)) return found;
  }
  ledger_.reserved(*this, p, segment);
  return adopt_segment(p, segment, size);
}

allocation* caching_pool::adopt_segment(void* p, std::size_t segment, std::size_t size) {
  std::lock_guard lock(mutex_);
  try {
    allocation* a = &nodes_.take();
    a->begin = static_cast<std::byte*>(p);
    a->bytes = segment;
    a->is_free = false;
    reserved_ += segment;
    ++segments_;
    try {
      a = &placed(*a, size);
      cut(*a, size);
    } catch (const std::bad_alloc&) {  // then the whole of it
    }
    a->was_used = true;
    counts_.allocated(a->bytes);
    return a;
  } catch (...) {
    verbs_.release(kind_, device_, p, segment);
    ledger_.returned(*this, segment);
    throw;
  }
}

// Takes segments that are free as a whole out of the index, longest unused first.
std::vector<allocation*> caching_pool::leave_whole_segments() {
  drain_shards();
  std::lock_guard lock(mutex_);
  std::vector<allocation*> whole;
  free_.each([&](allocation& a) {
    if (a.before) return;
    for (const allocation* b = a.after; b; b = b->after)
      if (!b->is_free) return;
    whole.push_back(&a);
  });
  std::erase_if(whole, [&](allocation* a) {
    while (a->after) {
      allocation& next = *a->after;
      free_.remove(next), free_.remove(*a);
      const bool joined = swallow_next(*a);
      free_.add(*a);
      if (joined) continue;
      free_.add(next);
      return true;
    }
    free_.remove(*a);
    return false;
  });
  std::sort(whole.begin(), whole.end(), [](auto* a, auto* b) { return a->tag < b->tag; });
  return whole;
}

// The segments have left the pool before anybody waits for them, and the wait holds no lock (R7, R14).
std::size_t caching_pool::give_back(std::vector<allocation*> segments, release_depth how, std::size_t enough) {
  std::size_t bytes = 0;
  allocation* kept = nullptr;
  std::exception_ptr first;
  for (allocation* a : segments) {
    bool over = false;
    try {
      over = bytes < enough && is_unused(*a, how);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
    if (!over) {
      a->next = kept;
      kept = a;
      continue;
    }
    ledger_.returning(*this, a->begin, a->bytes);
    try {
      verbs_.release(kind_, device_, a->begin, a->bytes);
    } catch (const device_error& e) {  // a broken device: its memory goes with the process
      if (!e.is_sticky() && !first) first = std::current_exception();
    }
    ledger_.returned(*this, a->bytes);
    bytes += a->bytes;
    std::lock_guard lock(mutex_);
    reserved_ -= a->bytes;
    --segments_;
    nodes_.give_back(*a);
  }
  if (kept) store(kept);
  if (first) std::rethrow_exception(first);
  return bytes;
}

std::size_t caching_pool::release_cached(release_depth how) { return release_some(how, SIZE_MAX); }

std::size_t caching_pool::release_some(release_depth how, std::size_t enough) {
  refuse_inside_submission("trim a pool");
  return give_back(leave_whole_segments(), how, enough);
}

template <class F>
void caching_pool::each_segment(F f) const {
  std::lock_guard lock(mutex_);
  nodes_.each([&](const allocation& a) {
    if (!a.before) f(a);
  });
}

// Blocks that shards hold are neither in use nor in the index of free ones, and shown as free.
void caching_pool::each_block(const std::function<void(const block_info&)>& f) const {
  each_segment([&](const allocation& first) {
    for (const allocation* a = &first; a; a = a->after) f(info_of(*a));
  });
}

// As if the shards were empty and free neighbours joined, as they are before the pool grows.
request_cost caching_pool::cost_of(std::size_t bytes) const {
  if (bytes > most_bytes_at_once) return {SIZE_MAX, false, SIZE_MAX};
  const std::size_t size = rounded(bytes);
  bool is_cached = false;
  each_segment([&](const allocation& first) {
    std::size_t run = 0;
    const allocation* in_use = nullptr;  // before the run
    for (const allocation* a = &first; a && !is_cached; a = a->after) {
      const bool is_used = is_taken(*a);
      if (is_used) in_use = a;
      run = is_used ? 0 : (rules_.joins ? run : 0) + a->bytes;
      const bool run_ends = !rules_.joins || !a->after || is_taken(*a->after);
      std::byte* const end = a->begin + a->bytes;
      is_cached = run_ends && run >= size && fits(run, a->was_used, size) &&
                  gap_before({end - run, end}, in_use, a->after, size).has_value();
    }
  });
  return {size, is_cached, size};
}

trimmable_bytes caching_pool::trimmable() const {
  std::size_t whole = 0, pieces = 0;
  each_segment([&](const allocation& first) {
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

// Before the pool grows beyond its share: gives back what was unused longest, of that whose last uses are over. Waits for
// nobody: others that need to grow stand behind this thread.
void caching_pool::collect_garbage(std::size_t segment) {
  if (!options_.gc_threshold) return;
  const auto limit = static_cast<std::size_t>(*options_.gc_threshold * static_cast<double>(memory_bytes_));
  std::size_t held = 0;
  {
    std::lock_guard lock(mutex_);
    held = reserved_;
  }
  if (held + segment > limit) give_back(leave_whole_segments(), release_depth::finished, held + segment - limit);
}

source_state caching_pool::state() const {
  const pool_statistics s = statistics();
  std::lock_guard lock(mutex_);
  return {s.allocated_bytes, s.reserved_bytes, free_.largest()};
}

pool_statistics caching_pool::statistics() const {
  pool_counts all;
  for (const pool_shard& s : shards_) all += s.counts();
  std::lock_guard lock(mutex_);
  all += counts_;
  return {all.bytes, reserved_, all.allocations, nodes_.in_use(), segments_, all.made};
}

}  // namespace ferry
