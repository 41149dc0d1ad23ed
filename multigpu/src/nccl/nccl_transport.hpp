// Collectives of CUDA devices by NVIDIA's NCCL, which is loaded at first use.
#pragma once
#include <array>
#include <cstddef>
#include <functional>

#include "ferry/multigpu/transport.hpp"

namespace ferry::nccl {

// What a team's processes agree on to find each other.
using unique_id = std::array<char, 128>;

// All ranks are of this process. Takes as long as NCCL needs to set up its connections (some 100 ms); teams of the same
// devices use them again. Throws not_supported when there is no NCCL.
std::shared_ptr<transport> make_transport(const rank_layout& team);

// The same for ranks of several processes, all of which make this call. `share` gives all processes the id of the first.
// Blocks until they have come.
std::shared_ptr<transport> make_transport(const rank_layout& team, const std::function<void(unique_id&)>& share);

}  // namespace ferry::nccl
