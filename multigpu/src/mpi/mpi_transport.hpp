// Collectives between processes on CPUs, by messages.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {

// Makes a transport whose calls block until the arguments are ready and the other processes have arrived. Arrays in
// device memory pass through pinned memory. `all` must outlive the transport.
std::shared_ptr<transport> make_transport(const rank_layout& team, processes& all);

// The ranks of each process: process p has those from first[p] up to first[p + 1].
struct rank_table {
  std::vector<std::size_t> first;
  rank_table(const rank_layout& team, processes& all);
  std::size_t processes() const { return first.size() - 1; }
  std::size_t members(std::size_t p) const { return first[p + 1] - first[p]; }
  std::size_t process_of(std::size_t rank) const;
};

// Compares the next calls of all processes. Throws invalid_argument, in all of them, if they differ.
void need_same_calls(std::span<const collective_call> calls, const rank_table& ranks, processes& all);

}  // namespace ferry::inline FERRY_ABI::detail::mpi
