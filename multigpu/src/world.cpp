// Teams that span the processes of a program.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/multigpu/team.hpp"
#include "mpi/mpi_transport.hpp"
#include "nccl/nccl_transport.hpp"
#include "processes.hpp"
#include "world_transport.hpp"

namespace ferry {
namespace {

// Words that a variable of the environment may hold; the first is the default.
std::size_t choice(const char* name, std::initializer_list<const char*> allowed) {
  const char* given = std::getenv(name);
  if (!given || !*given) return 0;
  std::string list;
  for (const char* const* a = allowed.begin(); a != allowed.end(); ++a) {
    if (std::strcmp(given, *a) == 0) return static_cast<std::size_t>(a - allowed.begin());
    list += (list.empty() ? "" : ", ") + std::string(*a);
  }
  throw parse_error(std::string(name) + " is '" + given + "': it must be one of " + list);
}

// Whether each process of the machine was given GPUs of its own, by the launcher.
bool has_devices_of_its_own(processes& all) {
  constexpr std::size_t most = 256;
  std::vector<std::byte> mine(most);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    std::strncpy(reinterpret_cast<char*>(mine.data()), visible, most - 1);
  const auto everybody = all.all_gather(mine, "comparing the devices of the processes");
  if (machine::current().is_simulated()) return false;
  // Processes of other machines may have the same numbers; those of this one have neighbouring ranks as a rule.
  const std::size_t first = all.rank() - all.local_rank();
  for (std::size_t p = first; p < first + all.local_size() && p < all.size(); ++p)
    if (p != all.rank() && std::memcmp(everybody.data() + p * most, mine.data(), most) == 0) return false;
  return all.local_size() > 1;
}

// The devices of the machine are dealt out to its processes in order. Simulated ones are shared when they are too few:
// each process has simulated devices of its own.
std::vector<device> own_devices(processes& all) {
  const std::span<const device> there = devices();
  if (has_devices_of_its_own(all)) return {there.begin(), there.end()};
  const std::size_t n = there.size(), shares = all.local_size(), mine = all.local_rank();
  if (n >= shares) {
    const std::size_t begin = n / shares * mine + std::min(mine, n % shares);
    const std::size_t end = begin + n / shares + (mine < n % shares ? 1 : 0);
    return {there.begin() + static_cast<std::ptrdiff_t>(begin), there.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  if (!machine::current().is_simulated())
    throw invalid_argument(std::to_string(shares) + " processes on a machine with " + std::to_string(n) +
                           " GPUs: start at most one process a GPU (mpirun -n " + std::to_string(n) +
                           "), or use simulated devices (FERRY_BACKEND=sim)");
  return {there[mine * n / shares]};
}

}  // namespace

team team::world() {
  processes* const all = processes::world();
  if (!all) return team::all();
  const std::vector<ferry::device> mine = own_devices(*all);
  rank_layout layout{0, 0, mine};
  const mpi::rank_table ranks(layout, *all);
  layout.ranks = ranks.first.back();
  layout.first = ranks.first[all->rank()];
  const bool by_mpi = choice("FERRY_TRANSPORT", {"auto", "mpi", "nccl"}) == 1 || machine::current().is_simulated();
  // Messages of the CPU always compare the calls.
  const bool check = choice("FERRY_CHECK_COLLECTIVES", {"off", "on"}) == 1 && !by_mpi;
  auto carrier = by_mpi ? mpi::make_transport(layout, *all) : nccl::make_transport(layout, *all);
  auto wire =
      std::make_shared<world_transport>(std::move(carrier), ranks, *all, check ? call_check::on : call_check::off);
  return team(mine, layout.first, layout.ranks, std::move(wire));
}

}  // namespace ferry
