// Collectives of simulated devices.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::sim {

std::shared_ptr<transport> make_transport(const rank_layout& team);

// What the calls of all ranks do, on the CPU. Calls of one operation lie one behind the other.
void run_calls(std::span<const collective_call> calls, std::size_t ranks);

}  // namespace ferry::sim
