// Least and greatest floats for transports whose own do not propagate NaN, as NCCL's: they reduce integer keys instead.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry {

// Passes all other calls on to `below`. A reduction to the least or greatest float takes two kernels more on each member,
// and device memory for the keys: none for all_reduce of float and double, whose keys lie in the result.
std::shared_ptr<transport> with_ordered_keys(std::shared_ptr<transport> below, const rank_layout& team);

}  // namespace ferry
