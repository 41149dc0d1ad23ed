// Where the bytes of arrays come from.
#pragma once
#include <cstddef>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

class runtime;
class memory_pool;

namespace detail {
// Where new arrays of this thread get their bytes: the pool of its scope, or the machine's.
memory_pool& pool_of_new_arrays(runtime& m, memory_kind kind, int device);
// Bytes (at least one) of a pool of the machine, not of a workspace. Throws out_of_memory.
allocation_ref allocate_block(runtime& m, memory_kind kind, int device, std::size_t bytes);
}  // namespace detail

}  // namespace ferry
