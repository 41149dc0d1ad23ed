// Collectives of CUDA devices by NVIDIA's NCCL, which is loaded at first use.
#pragma once
#include <array>
#include <cstddef>

#include "ferry/multigpu/detail/transport/transport.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

// An identifier by which the processes of a team connect to each other.
using unique_id = std::array<char, 128>;

// Throws not_supported if there is no NCCL.
void need_library();

// Makes the transport of a team whose ranks are all in this process. Blocks while NCCL sets up its connections (some
// 100 ms); teams of the same devices reuse them. Throws not_supported if there is no NCCL.
std::shared_ptr<transport> make_transport(const rank_layout& team);

// As above, for ranks of several processes. All processes must call it, and it blocks until they have. A thread watches
// work that waits for other processes, and ends it if it would wait forever.
std::shared_ptr<transport> make_transport(const rank_layout& team, processes& all);

}  // namespace ferry::inline FERRY_ABI::detail::nccl
