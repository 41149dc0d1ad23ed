// Deleters of adopted blocks: each runs after its array is destroyed and all work on the block is complete.
#pragma once
#include <atomic>

#include "external/foreign_blocks.hpp"
#include "ordering/internal_streams.hpp"
#include "pools/deferred_frees.hpp"

namespace ferry::inline FERRY_ABI::detail {

class adopted_deleters {
 public:
  adopted_deleters(timelines& streams, std::size_t devices, foreign_blocks& blocks);
  // Waits for all uses and runs the remaining deleters.
  ~adopted_deleters();
  adopted_deleters(const adopted_deleters&) = delete;
  adopted_deleters& operator=(const adopted_deleters&) = delete;

  // Called when the last reference to a block is dropped. Does nothing for a borrow: its end erases it. Never blocks.
  void deallocate(allocation& a) noexcept;
  // Runs the deleters of blocks whose uses are complete. Never blocks; costs one load if there are none.
  void collect() noexcept {
    if (waiting_.load(std::memory_order_relaxed) > 0) run(false);
  }
  // Marks the blocks that submissions freed as ending. The caller holds the lock of the blocks.
  void take_over_late_ones() noexcept;

 private:
  void run(bool wait) noexcept;
  bool hand_to_stream(foreign_block& e) noexcept;

  foreign_blocks& blocks_;
  deferred_frees late_;                  // blocks that submissions freed
  internal_streams streams_;             // for deleters that take a stream; the lock of blocks_ guards them
  std::atomic<std::size_t> waiting_{0};  // number of blocks whose deleters have not run
};

}  // namespace ferry::inline FERRY_ABI::detail
