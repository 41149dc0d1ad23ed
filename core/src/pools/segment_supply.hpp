// Segments of a caching pool: allocated from the backend if no block fits, released when they are completely free.
#pragma once
#include <mutex>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/pool_options.hpp"
#include "pools/pool_shards.hpp"
#include "pools/segment_blocks.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe. A part of the pool, whose other parts outlive it.
class segment_supply {
 public:
  // merges: free neighbours are merged.
  segment_supply(memory_source& pool, memory_accounting& accounting, const pool_options& options, bool merges,
                 pool_shards& shards, segment_blocks& blocks);

  // Returns a block of a new segment, unless one from the shards fits. Runs the out-of-memory handlers if there is no
  // memory. Throws out_of_memory.
  allocation& grow(std::size_t size, const timeline* on);
  // Releases free segments, least recently used first, until `enough` bytes are released. Blocks until their last uses
  // are complete, if `how` says so. Returns the number of bytes.
  std::size_t release(release_depth how, std::size_t enough);

 private:
  void drain_shards() noexcept;
  void collect_garbage(std::size_t segment);

  memory_source& pool_;
  memory_accounting& accounting_;
  detail::backend& backend_;
  pool_shards& shards_;
  segment_blocks& blocks_;
  const bool merges_;
  const std::size_t gc_limit_;  // reserved bytes above which completed segments are released; SIZE_MAX: no limit
  std::mutex growing_;          // one thread at a time allocates from the backend; taken before the lock of blocks_
};

}  // namespace ferry::inline FERRY_ABI::detail
