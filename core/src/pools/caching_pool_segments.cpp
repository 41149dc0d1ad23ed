// Segments: allocated from the backend if no block fits, released when they are completely free.
#include <algorithm>
#include <bit>
#include <exception>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "pools/caching_pool.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Segments grow with the pool up to this size.
constexpr std::size_t most_shared_segment = std::size_t{256} << 20;
// Requests of at least this size get a dedicated segment; completed free segments are released first. Otherwise free
// segments too small for large requests would accumulate. Measured on random sizes to 1 GiB: a peak of 1.26 instead of
// 1.36 times the bytes in use.
constexpr std::size_t huge = std::size_t{128} << 20;

}  // namespace

// Returns the size of a new segment: at least 1/32 of the pool's bytes. So many blocks share a segment, and little is
// reserved beyond the need.
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

// Allocates a segment from the backend, unless a block from the shards fits. No lock is held while out-of-memory
// handlers run.
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
    accounting_.acquire_once(*this, segment, [&] { p = backend_.allocate(kind_, device_, segment); });
  } catch (const out_of_memory&) {
    segment = size;  // no spare room this time
    const auto ask_backend = [&] {
      std::lock_guard one(growing_);
      p = backend_.allocate(kind_, device_, segment);
    };
    const auto look_again = [&] {
      std::lock_guard one(growing_);
      drain_shards();
      return (found = take_stored(size, on, search::tight)) != nullptr;
    };
    // If blocks are never merged, releases no more than the request needs. The out-of-memory handlers would release
    // everything, and the next sizes would have to be allocated again.
    const auto in_exchange = [&] {
      std::lock_guard one(growing_);
      if (rules_.joins || give_back(leave_whole_segments(), release_depth::finished, segment) == 0) return false;
      try {
        accounting_.acquire_once(*this, segment, [&] { p = backend_.allocate(kind_, device_, segment); });
        return true;
      } catch (const out_of_memory&) {
        return false;
      }
    };
    if (look_again()) return found;
    if (!in_exchange() && !accounting_.acquire(*this, segment, ask_backend, look_again)) return found;
  }
  accounting_.reserved(*this, p, segment);
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
    } catch (const std::bad_alloc&) {  // then the whole segment is one block
    }
    a->was_used = true;
    counts_.allocated(a->bytes);
    return a;
  } catch (...) {
    backend_.release(kind_, device_, p, segment);
    accounting_.returned(*this, segment);
    throw;
  }
}

// Removes segments that are completely free from the index and returns them, least recently used first.
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

// The segments leave the pool before any wait for their uses, and the wait holds no lock (R7, R14).
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
    accounting_.returning(*this, a->begin, a->bytes);
    try {
      backend_.release(kind_, device_, a->begin, a->bytes);
    } catch (const device_error& e) {  // a failed device: process exit frees its memory
      if (!e.is_sticky() && !first) first = std::current_exception();
    }
    accounting_.returned(*this, a->bytes);
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

// Called before the pool grows beyond its share. Releases the least recently used completed segments. Never waits for
// devices, because growing_ is held.
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

}  // namespace ferry::inline FERRY_ABI::detail
