// Our own pool: takes segments from the backend, cuts blocks out of them, and keeps what is freed. What its kinds (split,
// binned, simple) differ in are three rules.
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

namespace ferry {

class caching_pool final : public memory_pool {
 public:
  caching_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options);
  // Gives everything back; all of it must be free.
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
    bool powers_of_two;  // sizes are rounded up to them
    bool cuts;           // blocks may be cut: binned ones only until they are used
    bool joins;          // free neighbours become one
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

  // Unified memory moves by pages of 2 MiB: blocks from this size on share none with others, unless memory is short.
  static constexpr std::size_t page = std::size_t{2} << 20;
  // A CPU makes a load wait for what it stored just before as long as the lowest 20 bits of their physical addresses agree
  // (S. Islam et al., "SPOILER: Speculative Load Hazards Boost Rowhammer and Cache Attacks", USENIX Security 2019, section 3).
  // Managed memory is contiguous by pages, so that it happens in every stencil from one array to another if both begin on an
  // edge: 5 times slower on a Xeon of 2023, where 256 bytes of difference were enough. So blocks of unified memory from 256
  // KiB on begin at 32 different places of 16 KiB in turn.
  static constexpr std::size_t stagger = 1536, stagger_period = std::size_t{16} << 10;
  static constexpr std::size_t least_staggered = std::size_t{256} << 10;

  ferry::backend& backend_;
  const rules rules_;
  const bool staggers_;             // where large blocks begin, for loops of the CPU
  const std::size_t memory_bytes_;  // that gc_threshold is a share of
  static constexpr std::size_t shards = 16;
  std::array<pool_shard, shards> shards_;
  std::atomic<std::uint32_t> clock_{0};  // counts frees, for gc_threshold only
  std::mutex growing_;                   // one thread asks the backend at a time; taken before mutex_
  mutable std::mutex mutex_;             // what follows
  free_blocks free_;
  allocation_nodes nodes_;
  pool_counts counts_;  // of blocks that no shard handed out
  std::size_t reserved_ = 0, segments_ = 0;
  std::size_t staggered_ = 0;  // large blocks so far
};

}  // namespace ferry
