// Collectives of CUDA devices by NVIDIA's NCCL, which is loaded at first use.
#pragma once
#include <array>
#include <cstddef>

#include "ferry/multigpu/detail/transport/transport.hpp"
#include "processes/processes.hpp"

namespace ferry::nccl {

// What a team's processes agree on to find each other.
using unique_id = std::array<char, 128>;

// Throws not_supported when there is no NCCL.
void need_library();

// All ranks are of this process. Takes as long as NCCL needs to set up its connections (some 100 ms); teams of the same
// devices use them again. Throws not_supported when there is no NCCL.
std::shared_ptr<transport> make_transport(const rank_layout& team);

// The same for ranks of several processes, all of which make this call. Blocks until they have come. A thread looks after
// what waits for other processes, and ends it when it would wait for ever.
std::shared_ptr<transport> make_transport(const rank_layout& team, processes& all);

}  // namespace ferry::nccl
