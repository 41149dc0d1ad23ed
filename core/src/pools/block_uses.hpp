// Which blocks are in use, and until when.
#pragma once
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// True if an array uses the block, or it is retained (see memory_resource::retain).
inline bool is_taken(const allocation& a) {
  return (a.state.load(std::memory_order_relaxed) & 0xFFFFFFFFu) != 0 || is_retained(a);
}
// True if the last uses of freed bytes are complete: queries, or blocks, as `how` says. Work of a failed device is
// complete.
bool is_unused(allocation& a, release_depth how);
// Blocks until all uses of the bytes are complete. Work of a failed device counts as complete. Throws other errors.
void wait_for_all_uses(allocation& a, byte_range bytes);
// Orders later work on the stream behind all uses of the bytes.
void follow_all_uses(timeline& on, allocation& a, byte_range bytes);

}  // namespace ferry::inline FERRY_ABI::detail
