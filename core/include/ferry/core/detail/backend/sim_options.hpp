// Configuration and schedule of simulated devices: the text of FERRY_SIM, and its form in code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/numa_node.hpp"
#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// eager: each operation runs at its submission, on the calling thread. random: operations wait in their streams and run
// in a random order that respects only CUDA's guarantees. overlap: threads run the operations of all streams as soon as
// their predecessors are complete.
enum class schedule_kind : std::uint8_t { eager, random, overlap };

// Backend calls that can be made to fail. copy: copy, copy_peer, copy_strided. launch: launch, launch_graph.
enum class failing_verb : std::uint8_t { alloc, copy, launch, peer };

// The nth such call (from 1), on any device, fails with the error that CUDA would report.
struct failure {
  failing_verb verb = failing_verb::alloc;
  std::uint64_t nth = 1;
  bool operator==(const failure&) const = default;
};

// A pair of peers whose link loses every byte but reports success.
struct broken_link {
  int a = 0, b = 0;
  std::optional<peer_memory> memory = {};  // of this class; empty: of all
  bool operator==(const broken_link&) const = default;
};

struct options {
  bool are_cpus = false;  // the devices are the CPU itself (FERRY_BACKEND=cpu)
  int devices = 4;        // 1 to 64
  // Sizes for device 0, 1, ...: at least one, and no more than devices. The last one applies to all further devices.
  std::vector<std::size_t> memory_bytes{std::size_t{1} << 30};
  std::optional<std::vector<std::pair<int, int>>> peers;  // pairs that can access each other; empty optional: all
  std::vector<broken_link> broken;                        // among `peers`
  schedule_kind schedule = schedule_kind::eager;
  std::uint64_t seed = 0;  // of the random schedule
  // Threads that run a kernel together, with the one that runs the operation; not with the random schedule.
  unsigned threads = 1;
  // Of the CPU as devices, one for each NUMA node: the node of each device, among which the threads are divided. Empty:
  // devices share all cores and threads.
  std::vector<numa_node> nodes;
  std::vector<failure> failures;
  bool concurrent_managed = true;  // the CPU may access managed memory while devices work
  bool pageable_access = false;    // devices can access all host memory, as with HMM and ATS
  bool pinning = true;             // host memory can be pinned
  bool nvrtc = false;              // kernels of functors that have a text are compiled, so that errors are found
  // Unordered conflicting accesses make the device of the later one fail.
  bool check_races = false;
  check_level check = check_level::usual;  // level of the other checks
  index_checks indices = index_checks::simulated;

  std::size_t memory_of(int device) const;               // throws invalid_argument if memory_bytes is empty
  bool is_broken(int a, int b, peer_memory sort) const;  // symmetric
  bool are_peers(int a, int b) const;                    // symmetric; a device is not its own peer
  unsigned threads_of(std::size_t device) const;         // that run a kernel of the device together
};

// Parses e.g. "devices=4;memory=1GiB,256MiB;peers=0-1,2-3;broken=2-3:pools;schedule=random:42;fail=alloc@17,copy@3;
// concurrent_managed=off;pageable_access=on;pinning=off;nvrtc=on;threads=1;check=on". check=on: all checks;
// check=races: check_races and the usual ones; check=off: none. All keys are optional. Throws parse_error that quotes
// the text and lists what is allowed.
options parse_options(std::string_view text);
// Parses the text of FERRY_CPU: "devices=2;threads=8;memory=16GiB". By default there is one device, a thread for
// each core, and the devices divide `memory` bytes equally. Throws as parse_options(), also for more threads than cores
// without oversubscribe=on, and for a NUMA node that does not exist. cores: number of those that the process may use;
// nodes: returns the NUMA nodes, and is called if the text names them.
options parse_cpu_options(std::string_view text, std::size_t memory, unsigned cores,
                          const std::function<std::vector<numa_node>()>& nodes);
// The same for this machine.
options parse_cpu_options(std::string_view text, std::size_t memory);

}  // namespace ferry::inline FERRY_ABI::detail::sim
