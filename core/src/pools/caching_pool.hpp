// ferry's own pool: allocates segments from the backend, cuts blocks out of them, and caches freed blocks. Its kinds
// (split, binned, simple) differ in three rules.
#pragma once
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "pools/allocation_nodes.hpp"
#include "pools/free_blocks.hpp"
#include "pools/pool_shard.hpp"

namespace ferry::inline FERRY_ABI::detail {

class caching_pool final : public memory_pool {
 public:
  caching_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options);
  // Releases all memory to the backend; all blocks must be free.
  ~caching_pool() override;

  allocation_ref allocate(std::size_t bytes) override;
  void deallocate(allocation& a) noexcept override;
  std::size_t release_cached(release_depth how) override;
  std::size_t release_some(release_depth how, std::size_t enough) override;
  request_cost cost_of(std::size_t bytes) const override;
  trimmable_bytes trimmable() const override;
  void each_block(const std::function<void(const block_info&)>& f) const override;
  source_state state() const override;
  pool_statistics statistics() const override;

 private:
  struct rules {
    bool powers_of_two;  // sizes are rounded up to powers of two
    bool cuts;           // blocks may be cut: binned ones only before their first use
    bool joins;          // free neighbours are merged
  };
  static rules rules_of(pool_kind k);

  std::size_t rounded(std::size_t bytes) const;
  std::size_t segment_for(std::size_t size);
  bool fits(std::size_t block, bool was_used, std::size_t size) const;
  enum class search : std::uint8_t { ready, quick, thorough, tight };
  allocation* take_stored(std::size_t size, const timeline* on, search how);
  allocation* grow(std::size_t size, const timeline* on);
  allocation* adopt_segment(void* p, std::size_t segment, std::size_t size);
  void cut(allocation& a, std::size_t size);
  std::optional<std::size_t> gap_before(byte_range free, const allocation* before, const allocation* after,
                                        std::size_t size) const;
  allocation& placed(allocation& a, std::size_t size);
  void store(allocation* chain) noexcept;
  allocation& join(allocation& a) noexcept;
  bool swallow_next(allocation& a) noexcept;
  template <class F>
  void each_segment(F f) const;
  void drain_shards() noexcept;
  std::vector<allocation*> leave_whole_segments();
  std::size_t give_back(std::vector<allocation*> segments, release_depth how, std::size_t enough);
  void collect_garbage(std::size_t segment);
  pool_shard& shard();

  // Unified memory migrates by pages of 2 MiB. Blocks from this size on share no page with others, unless memory is
  // short.
  static constexpr std::size_t page = std::size_t{2} << 20;
  // For driver_quirks::aligned_arrays_delay_loads. A CPU delays a load behind an earlier store while the lowest 20 bits
  // of their physical addresses agree (S. Islam et al., "SPOILER: Speculative Load Hazards Boost Rowhammer and Cache
  // Attacks", USENIX Security 2019, section 3).
  // Managed memory is physically contiguous within a page. So a stencil from one array to another suffers from that if
  // both begin at a page boundary. Measured on a Xeon: 5 times slower; 256 bytes of difference were enough. So blocks
  // of unified memory from 256 KiB on begin at 32 different offsets within 16 KiB in turn.
  static constexpr std::size_t stagger = 1536, stagger_period = std::size_t{16} << 10;
  static constexpr std::size_t least_staggered = std::size_t{256} << 10;

  detail::backend& backend_;
  const rules rules_;
  const bool staggers_;             // if large blocks begin at staggered offsets, for loops on the CPU
  const std::size_t memory_bytes_;  // gc_threshold is a fraction of it
  static constexpr std::size_t shards = 16;
  std::array<pool_shard, shards> shards_;
  std::atomic<std::uint32_t> clock_{0};  // counts frees, for gc_threshold only
  std::mutex growing_;                   // one thread at a time allocates from the backend; taken before mutex_
  mutable std::mutex mutex_;             // guards the members below
  free_blocks free_;
  allocation_nodes nodes_;
  pool_counts counts_;  // of blocks that no shard handed out
  std::size_t reserved_ = 0, segments_ = 0;
  std::size_t staggered_ = 0;  // number of large blocks placed so far
};

}  // namespace ferry::inline FERRY_ABI::detail
