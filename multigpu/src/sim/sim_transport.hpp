// Collectives of simulated devices.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

std::shared_ptr<transport> make_transport(const rank_layout& team);

// Executes the calls of all ranks on the CPU. The calls of one operation are consecutive.
void run_calls(std::span<const collective_call> calls, std::size_t ranks);

}  // namespace ferry::inline FERRY_ABI::detail::sim
