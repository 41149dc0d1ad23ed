// The blocks of a caching pool's segments: cut for requests, and merged when they are free.
#pragma once
#include <mutex>
#include <vector>

#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/pool_options.hpp"
#include "pools/allocation_nodes.hpp"
#include "pools/block_placement.hpp"
#include "pools/block_rules.hpp"
#include "pools/free_blocks.hpp"
#include "pools/pool_counts.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe. Blocks in shards are neither in use nor free here.
class segment_blocks {
 public:
  enum class search : std::uint8_t {
    ready,     // as quick, but only a block for which work on the stream need not wait
    quick,     // checks the first few blocks of a size class
    thorough,  // checks all blocks
    tight      // checks all blocks, and accepts one that shares pages with its neighbours
  };

  segment_blocks(memory_resource& home, memory_kind kind, int device, const block_rules& rules,
                 const block_placement& placement);

  // Returns a free block, cut to size, or null.
  allocation* take(std::size_t size, const timeline* on, search how);
  // Adds freed blocks, linked by `next`.
  void store(allocation* chain) noexcept;

  // Returns the size of a new segment for a block of this size.
  std::size_t segment_for(std::size_t size) const;
  // Adds a segment and returns a block of it. Throws bad_alloc; nothing has changed then.
  allocation& add_segment(void* begin, std::size_t segment, std::size_t size);
  // Takes segments that are completely free off the index and returns them, least recently used first. store() or
  // remove_segment() must follow for each.
  std::vector<allocation*> take_free_segments();
  // Called after the segment is released to the backend.
  void remove_segment(allocation& a) noexcept;

  // True if a free block would serve a request of this size if the shards were empty and free neighbours merged, as
  // they are before the pool grows. Searches all blocks.
  bool can_serve(std::size_t size) const;
  std::size_t reserved_bytes() const;
  std::size_t largest_free() const;
  // Statistics of all blocks; counts of allocations leave out those that shards handed out.
  pool_statistics statistics() const;
  // Calls f(first block) for each segment, with the lock held. The other blocks follow by `after`.
  template <class F>
  void each_segment(F f) const {
    lock_guard lock(mutex_);
    nodes_.each([&](const allocation& a) {
      if (!a.before) f(a);
    });
  }

 private:
  void cut(allocation& a, std::size_t size) FERRY_LOCKED(mutex_);
  allocation& placed(allocation& a, std::size_t size) FERRY_LOCKED(mutex_);
  allocation& join(allocation& a) noexcept FERRY_LOCKED(mutex_);
  bool swallow_next(allocation& a) noexcept FERRY_LOCKED(mutex_);
  bool take_merged(allocation& first) noexcept FERRY_LOCKED(mutex_);

  const block_rules rules_;
  mutable mutex mutex_;  // guards the members below
  block_placement placement_ FERRY_GUARDED_BY(mutex_);
  free_blocks free_ FERRY_GUARDED_BY(mutex_);
  allocation_nodes nodes_ FERRY_GUARDED_BY(mutex_);
  pool_counts counts_ FERRY_GUARDED_BY(mutex_);  // of blocks that no shard handed out
  std::size_t reserved_ FERRY_GUARDED_BY(mutex_) = 0, segments_ FERRY_GUARDED_BY(mutex_) = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
