// Helpers to borrow, adopt and return foreign memory.
#pragma once
#include <string>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::string text_of(byte_range bytes, const std::string& name);
// Blocks until all uses of the bytes are complete. Work of a failed device counts as complete. Throws other errors.
void wait_for_all_uses(allocation& a, byte_range bytes);
void follow_all_uses(timeline& on, allocation& a, byte_range bytes);

}  // namespace ferry::inline FERRY_ABI::detail
