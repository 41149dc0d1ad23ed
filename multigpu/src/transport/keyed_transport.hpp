// Minimum and maximum of floats for transports whose own operations do not propagate NaN, as those of NCCL: they reduce
// integer keys instead.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Forwards all other calls to `below`. A minimum or maximum of floats takes two more kernels on each member, and device
// memory for the keys. all_reduce of float and double needs no such memory: its keys are in the result.
std::shared_ptr<transport> with_ordered_keys(std::shared_ptr<transport> below, const rank_layout& team);

}  // namespace ferry::inline FERRY_ABI::detail
