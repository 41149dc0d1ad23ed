// Pins unified memory to the CPU if a link between devices loses pages (driver_quirks::links_may_lose_bytes).
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class host_pinned_pages {
 public:
  explicit host_pinned_pages(runtime& m) : runtime_(m) {}

  // For arrays that are about to be used on a stream: moves their pages to the CPU, where devices access them from then
  // on. The move is ordered on the stream as a write. Moves each array once, and again when a later borrow makes it
  // larger. The first call blocks until all work of the runtime is complete, because earlier prefetches may be pending.
  void pin(timeline& on, std::span<const access> uses);

 private:
  struct pinned_range {
    std::uint64_t generation = ~std::uint64_t{0};
    byte_range bytes;
  };
  void pin(timeline& on, allocation& a, byte_range bytes) FERRY_LOCKED(mutex_);
  runtime& runtime_;
  mutex mutex_;  // held until the moves are enqueued: the next use of the array is ordered behind them
  bool is_at_rest_ FERRY_GUARDED_BY(mutex_) = false;
  std::unordered_map<const allocation*, pinned_range> pinned_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
