// A pool of the driver (cudaMallocAsync and related calls). Allocations and frees are work on streams, ordered by
// tickets as all other work. An array's history records its allocation as a write.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "ferry/core/detail/backend/pool_backend.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "pools/allocation_nodes.hpp"
#include "pools/deferred_frees.hpp"

namespace ferry::inline FERRY_ABI::detail {

class driver_pool final : public memory_pool {
 public:
  driver_pool(memory_accounting& accounting, timelines& streams, memory_kind kind, int device,
              const pool_options& options);
  ~driver_pool() override;

  allocation_ref allocate(std::size_t bytes) override;
  void deallocate(allocation& a) noexcept override;
  std::size_t release_cached(release_depth how) override;
  request_cost cost_of(std::size_t bytes) const override;
  trimmable_bytes trimmable() const override;
  source_state state() const override;
  void each_block(const std::function<void(const block_info&)>& f) const override;
  pool_statistics statistics() const override;
  native_pool native() const override { return pool_; }

 private:
  struct point {
    timeline* by;
    ticket at;
  };
  void grant_peer(const allocation& a, int device) override;
  timeline& line_to_allocate_on();
  void free_or_fail(allocation& a);
  void free_now(allocation& a, timeline*& with, bool& told);
  bool reserve_frees(timeline& on) noexcept;
  void free_what_was_put_off() noexcept;
  static std::vector<point> see(std::vector<point> frees, release_depth how);

  pool_backend& backend_;
  timelines& streams_;
  const native_pool pool_;
  deferred_frees put_off_;
  timeline& own_;  // for work of no stream of the program: never delays the program's work
  std::mutex granting_;
  mutable mutex mutex_;  // guards the members below
  allocation_nodes nodes_ FERRY_GUARDED_BY(mutex_);
  // the last free on each stream whose bytes the driver may still cache; 0: none
  std::map<timeline*, ticket> frees_ FERRY_GUARDED_BY(mutex_);
  // bytes freed after the device failed: counted as reserved until the next trim
  std::size_t given_up_ FERRY_GUARDED_BY(mutex_) = 0;
  pool_statistics statistics_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
