// Foreign memory that a runtime's arrays use: borrowed, pinned, adopted.
#pragma once
#include "external/adopted_deleters.hpp"
#include "external/foreign_blocks.hpp"
#include "external/pinned_ranges.hpp"
#include "ferry/core/borrow.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class foreign_memory final : public memory_resource {
 public:
  explicit foreign_memory(runtime& m);

  allocation_ref borrow(byte_range bytes, memory_kind kind, const borrow_options& how, borrow_method way);
  // Ends one borrow. before: a stream to order behind all uses; null blocks until they are complete. Throws error if
  // waiting or unpinning fails; the borrow has ended nevertheless.
  void end(allocation_ref& owner, byte_range bytes, bool pinned, const stream_ref* before, freed_by how);
  allocation_ref adopt(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                       block_deleter deleter);
  void deallocate(allocation& a) noexcept override { deleters_.deallocate(a); }

  // Runs the deleters of adopted blocks whose uses are complete. Never blocks; costs one load if there are none.
  void collect() noexcept { deleters_.collect(); }
  // Returns the number of borrows and adopted blocks that are alive, or whose deleters have not run.
  std::size_t count() const;
  // Returns the allocation of the borrow or adopted block that contains an address. Null if there is none, or if
  // another thread holds the lock to begin or end a borrow. Never blocks.
  allocation* at(const std::byte* p) const;

 private:
  runtime& runtime_;
  foreign_blocks blocks_;
  pinned_ranges ranges_;  // the lock of blocks_ guards them
  adopted_deleters deleters_;
};

}  // namespace ferry::inline FERRY_ABI::detail
