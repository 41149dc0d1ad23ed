// The pools of one runtime: one of each kind of memory on each device, and those that programs create.
#pragma once
#include <cstddef>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Thread-safe.
class runtime_pools {
 public:
  // Options of kind automatic mean FERRY_POOL, else split. Throws invalid_argument for invalid options.
  runtime_pools(memory_accounting& accounting, timelines& streams, const pool_options& options);
  ~runtime_pools();
  runtime_pools(const runtime_pools&) = delete;
  runtime_pools& operator=(const runtime_pools&) = delete;

  // The pool of new arrays where no pool_scope applies. The device must exist.
  memory_pool& of(memory_kind kind, int device) const {
    return *usual_[static_cast<std::size_t>(kind) * devices_ + static_cast<std::size_t>(device)];
  }
  // The pool of new arrays of `bytes` bytes where no pool_scope applies. Pinned arrays of one cache line at most, as
  // scalars, have a pool of their own, with blocks of that size.
  memory_pool& for_array(memory_kind kind, int device, std::size_t bytes) const {
    if (kind != memory_kind::host || bytes > cache_line || lines_.empty()) return of(kind, device);
    return *lines_[static_cast<std::size_t>(device)];
  }
  // The kind that pool_kind::automatic means.
  pool_kind default_kind() const { return default_kind_; }
  // A separate pool: a new one, or a returned one with the same options. It lives as long as the runtime.
  memory_pool& take(memory_kind kind, int device, const pool_options& options);
  // Returns a pool of take() for reuse.
  void give_back(memory_pool& p) noexcept;
  static constexpr std::size_t cache_line = 64;
  // Sums of all pools.
  pool_statistics statistics() const;
  // Memory class of device arrays from the usual pool.
  peer_memory peer_class(int device) const;

 private:
  pool_options usable(memory_kind kind, int device, const pool_options& options) const;
  memory_accounting& accounting_;
  timelines& streams_;
  const std::size_t devices_;
  const pool_kind default_kind_;
  std::vector<owning_ptr<memory_pool>> usual_;  // by kind and device
  std::vector<owning_ptr<memory_pool>> lines_;  // of cache lines in pinned memory, by device; none without caching
  mutable mutex mutex_;
  std::vector<owning_ptr<memory_pool>> extra_ FERRY_GUARDED_BY(mutex_);  // pools that programs created
  std::vector<memory_pool*> unused_ FERRY_GUARDED_BY(mutex_);            // the returned ones among them
};

}  // namespace ferry::inline FERRY_ABI::detail
