// What a pool holds, and what a request would cost it.
#include "pools/caching_pool.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class F>
void caching_pool::each_segment(F f) const {
  std::lock_guard lock(mutex_);
  nodes_.each([&](const allocation& a) {
    if (!a.before) f(a);
  });
}

// Blocks in shards are neither in use nor in the index of free ones. They are reported as free.
void caching_pool::each_block(const std::function<void(const block_info&)>& f) const {
  each_segment([&](const allocation& first) {
    for (const allocation* a = &first; a; a = a->after) f(info_of(*a));
  });
}

// Computes the cost as if the shards were empty and free neighbours merged, as they are before the pool grows.
request_cost caching_pool::cost_of(std::size_t bytes) const {
  if (bytes > most_bytes_at_once) return {SIZE_MAX, false, SIZE_MAX};
  const std::size_t size = rounded(bytes);
  bool is_cached = false;
  each_segment([&](const allocation& first) {
    std::size_t run = 0;
    const allocation* in_use = nullptr;  // the block before the run
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

}  // namespace ferry::inline FERRY_ABI::detail
