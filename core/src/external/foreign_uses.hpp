// What is said and waited for when memory of others is lent, adopted and given back.
#pragma once
#include <string>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"

namespace ferry {

std::string text_of(byte_range bytes, const std::string& name);
// What a broken device was doing counts as over; other errors are for the caller.
void wait_for_all_uses(allocation& a, byte_range bytes);
void follow_all_uses(timeline& on, allocation& a, byte_range bytes);

}  // namespace ferry
