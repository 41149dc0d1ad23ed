// No caching: each block is allocated from and released to the backend, so that memory checkers see each array
// separately.
#pragma once
#include <vector>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "pools/allocation_nodes.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Freed blocks stay in a list until their last uses are complete (R12), because the backend would free memory in use.
// Each allocation searches the list.
class direct_pool final : public memory_pool {
 public:
  direct_pool(memory_accounting& accounting, memory_kind kind, int device, const pool_options& options);
  ~direct_pool() override;

  allocation_ref allocate(std::size_t bytes) override;
  void deallocate(allocation& a) noexcept override;
  std::size_t release_cached(release_depth how) override;
  void each_block(const std::function<void(const block_info&)>& f) const override;
  request_cost cost_of(std::size_t bytes) const override;
  trimmable_bytes trimmable() const override;
  source_state state() const override;
  pool_statistics statistics() const override;

 private:
  detail::backend& backend_;
  mutable mutex mutex_;  // guards the members below
  allocation_nodes nodes_ FERRY_GUARDED_BY(mutex_);
  allocation* freed_ FERRY_GUARDED_BY(mutex_) = nullptr;  // linked by next, latest first
  pool_statistics statistics_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
