// ferry's own pool: allocates segments from the backend, cuts blocks out of them, and caches freed blocks. Its kinds
// (split, binned) differ in their block_rules.
#pragma once
#include <atomic>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "pools/block_rules.hpp"
#include "pools/pool_shards.hpp"
#include "pools/segment_blocks.hpp"
#include "pools/segment_supply.hpp"

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
  const block_rules rules_;
  pool_shards shards_;
  std::atomic<std::uint32_t> clock_{0};  // counts frees, for gc_threshold only
  segment_blocks blocks_;
  segment_supply segments_;
};

}  // namespace ferry::inline FERRY_ABI::detail
