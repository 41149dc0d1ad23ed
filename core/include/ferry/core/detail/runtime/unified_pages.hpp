// Whether pages of unified memory may travel between devices: tests links, and pins pages to the CPU if one loses pages
// (driver_quirks::links_may_lose_bytes).
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class unified_pages {
 public:
  // can_migrate: all devices have concurrent managed access.
  unified_pages(runtime& m, bool can_migrate) : runtime_(m), can_migrate_(can_migrate) {}

  // See runtime::migrates_unified.
  bool migrate() const;
  // Prepares a device for its first use of unified memory: tests its links to all devices that have used some. May
  // block then. In a capture, each launch of the graph does it. Throws out_of_memory if the test cannot allocate.
  void test_links(int device);
  // For arrays that are about to be used on a stream, where a link has failed that test (peers().loses_pages()): moves
  // their pages to the CPU, where devices access them from then on. The move is ordered on the stream as a write. Moves
  // each array once, and again when a later borrow makes it larger. The first call blocks until all work of the runtime
  // is complete, because earlier prefetches may be pending. No effect in a capture or a submission.
  void pin_to_host(timeline& on, std::span<const access> uses);

 private:
  struct pinned_range {
    std::uint64_t generation = ~std::uint64_t{0};
    byte_range bytes;
  };
  void pin(timeline& on, allocation& a, byte_range bytes) FERRY_LOCKED(mutex_);
  runtime& runtime_;
  const bool can_migrate_;
  mutex mutex_;  // held until the moves are enqueued: the next use of the array is ordered behind them
  bool is_at_rest_ FERRY_GUARDED_BY(mutex_) = false;
  std::unordered_map<const allocation*, pinned_range> pinned_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
