// Release of freed bytes to the backend.
#pragma once
#include <exception>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Releases the bytes of a block if their last uses are complete: queries, or blocks, as `how` says. Returns false if
// they are not, or if the wait fails. first: set to the first error. Call it with no lock of the pool's blocks held.
bool release_if_unused(allocation& a, release_depth how, memory_source& pool, memory_accounting& accounting,
                       std::exception_ptr& first);

}  // namespace ferry::inline FERRY_ABI::detail
