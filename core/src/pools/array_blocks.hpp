// Where arrays get their blocks.
#pragma once
#include <cstddef>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class memory_pool;

// Returns the pool for a new array of this thread: that of its scope, or the runtime's.
memory_pool& pool_of_new_arrays(runtime& m, memory_kind kind, int device, std::size_t bytes);
// Allocates at least one byte from a pool of the runtime, not from a workspace. Throws out_of_memory.
allocation_ref allocate_block(runtime& m, memory_kind kind, int device, std::size_t bytes);

}  // namespace ferry::inline FERRY_ABI::detail
