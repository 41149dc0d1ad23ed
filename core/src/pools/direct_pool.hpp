// No pool: every block comes from the backend and goes back to it, so that memory checkers see each array by itself.
#pragma once
#include <mutex>
#include <vector>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "pools/allocation_nodes.hpp"

namespace ferry {

// Freed blocks wait in a list until their last uses are over (R12): the backend frees memory no matter who uses it. Each
// allocation looks through the list.
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
  ferry::backend& backend_;
  mutable std::mutex mutex_;  // what follows
  allocation_nodes nodes_;
  allocation* freed_ = nullptr;  // linked by next, latest first
  pool_statistics statistics_;
};

}  // namespace ferry
