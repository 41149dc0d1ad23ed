// Teams that span the processes of a program.
#include <algorithm>
#include <cstring>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/multigpu/team.hpp"
#include "mpi/mpi_transport.hpp"
#include "nccl/nccl_transport.hpp"
#include "processes/processes.hpp"
#include "support/team_settings.hpp"
#include "teams/world_transport.hpp"
#include "transport/keyed_transport.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// True if the launcher has assigned separate GPUs to each process of the machine.
bool has_devices_of_its_own(processes& all) {
  constexpr std::size_t most = 256;
  std::vector<std::byte> mine(most);
  if (const auto visible = environment("CUDA_VISIBLE_DEVICES"))
    std::strncpy(reinterpret_cast<char*>(mine.data()), visible->c_str(), most - 1);
  const auto everybody = all.all_gather(mine, "comparing the devices of the processes");
  if (runtime::current().is_simulated()) return false;
  for (const std::size_t p : all.neighbours())  // processes of other machines may have the same numbers
    if (p != all.rank() && std::memcmp(everybody.data() + p * most, mine.data(), most) == 0) return false;
  return all.local_size() > 1;
}

// Returns the devices of this process: those of the machine are distributed over its processes in order. If there are
// too few simulated devices, processes share their numbers: each process has its own simulator.
std::vector<device> own_devices(processes& all) {
  const bool has_its_own = has_devices_of_its_own(all);  // calls all processes: first, before anything can fail
  const std::span<const device> there = devices();
  if (has_its_own) return {there.begin(), there.end()};
  const std::size_t n = there.size(), shares = all.local_size(), mine = all.local_rank();
  if (n >= shares) {
    const std::size_t begin = n / shares * mine + std::min(mine, n % shares);
    const std::size_t end = begin + n / shares + (mine < n % shares ? 1 : 0);
    return {there.begin() + static_cast<std::ptrdiff_t>(begin), there.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  if (!runtime::current().is_simulated())
    throw invalid_argument(concat(shares, " processes on a machine with ", n,
                                  " GPUs: start at most one process a GPU (mpirun -n ", n,
                                  "), or use simulated devices (FERRY_BACKEND=sim)"));
  return {there[mine * n / shares]};
}

}  // namespace

team team::world() {
  processes* const all = processes::world();
  if (!all) return team::all();
  // All processes must learn of an error in one of them: they would wait for it.
  std::vector<ferry::device> mine;
  bool by_mpi = false;
  std::size_t check = 0;
  all->together("making a team of all processes", [&] {
    mine = own_devices(*all);
    by_mpi = transport_of_environment() == transport_choice::mpi || runtime::current().is_simulated();
    // Messages between CPUs always compare the calls, and NCCL never does.
    const collective_checks how = checks_of_environment();
    check = by_mpi || how == collective_checks::off ? 0
            : how == collective_checks::first       ? world_transport::first_calls
                                                    : std::size_t(-1);
    if (!by_mpi) nccl::need_library();
    if (!by_mpi && !all->allows_threads())
      throw not_supported(
          "a team of all processes: with NCCL a thread of ferry watches over the other processes by MPI, which the "
          "program "
          "started for fewer threads: call MPI_Init_thread with MPI_THREAD_MULTIPLE, or leave it to ferry to start "
          "MPI");
  });
  rank_layout layout{0, 0, mine};
  const mpi::rank_table ranks(layout, *all);
  layout.ranks = ranks.first.back();
  layout.first = ranks.first[all->rank()];
  auto carrier =
      by_mpi ? mpi::make_transport(layout, *all) : with_ordered_keys(nccl::make_transport(layout, *all), layout);
  auto wire = std::make_shared<world_transport>(std::move(carrier), ranks, *all, check);
  return team(mine, layout.first, layout.ranks, std::move(wire));
}

}  // namespace ferry::inline FERRY_ABI
