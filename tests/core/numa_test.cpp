// The CPU as devices, one for each NUMA node: nodes of this machine and of made-up ones, and threads bound to cores.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <ferry/core.hpp>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"
#include "hwloc/hwloc_topology.hpp"
#include "platform/host_topology.hpp"
#include "sim/sim_backend.hpp"
#include "support/cpu_device.hpp"

namespace numa {
namespace {

namespace fr = ferry;
using fr::detail::numa_node;
using fr::detail::process_cores;
using fr::detail::usable_cores;

// A machine with two nodes of four cores, for hwloc.
class made_up_topology {
 public:
  made_up_topology() { ::setenv("HWLOC_SYNTHETIC", "numa:2 core:4 pu:1", 1); }
  ~made_up_topology() { ::unsetenv("HWLOC_SYNTHETIC"); }
};

bool has_hwloc() { return !fr::detail::hwloc::numa_nodes().empty(); }

// Checks that the calling thread has the cores at the end that it had at the beginning.
struct same_cores {
  const std::vector<int> before = usable_cores();
  ~same_cores() { BOOST_TEST(usable_cores() == before); }
};

// A machine whose devices are nodes with the same one core.
std::unique_ptr<fr::detail::backend> on_one_core(int core, const std::string& streams,
                                                 const std::string& numbers = "3") {
  const auto nodes = [core] { return std::vector<numa_node>{{3, {core}, true}, {4, {core}, true}}; };
  return fr::detail::sim::make_backend(fr::detail::sim::parse_cpu_options(
      "devices=numa:" + numbers + ";threads=3;oversubscribe=on;" + streams, std::size_t{1} << 30, 1, nodes));
}

}  // namespace
}  // namespace numa

BOOST_FIXTURE_TEST_SUITE(numa, same_cores)

BOOST_AUTO_TEST_CASE(nodes_of_this_machine_have_the_cores_of_the_process) {
  std::vector<int> all;
  int last = -1;
  for (const numa_node& n : fr::detail::numa_nodes()) {
    BOOST_TEST(n.number > last);
    last = n.number;
    BOOST_TEST((n.can_bind && !n.cores.empty()));
    all.insert(all.end(), n.cores.begin(), n.cores.end());
  }
  std::sort(all.begin(), all.end());
  BOOST_TEST(all == process_cores());
  const support::cpu_device cpu("devices=numa");
  BOOST_TEST(fr::devices().size() == fr::detail::numa_nodes().size());
}

BOOST_AUTO_TEST_CASE(nodes_of_a_made_up_machine) {
  if (!has_hwloc()) {
    BOOST_TEST(fr::detail::numa_nodes().size() >= 1u);
    BOOST_TEST_MESSAGE("this build has no hwloc");
    return;
  }
  const made_up_topology machine;
  const std::vector<numa_node> nodes = fr::detail::numa_nodes();
  BOOST_TEST((nodes == std::vector<numa_node>{{0, {0, 1, 2, 3}, false}, {1, {4, 5, 6, 7}, false}}));
  const support::cpu_device cpu("devices=numa");
  BOOST_TEST_REQUIRE(fr::devices().size() == 2u);
  const auto& names = fr::runtime::current();
  BOOST_TEST(names.properties(0).name == "CPU 0, NUMA node 0");
  BOOST_TEST(names.properties(1).name == "CPU 1, NUMA node 1");
  fr::unified_array<int> u({100000}, 1);
  const fr::stream s(fr::devices()[0]), t(fr::devices()[1]);
  std::atomic<std::size_t> most{0};
  for (int round = 0; round != 20; ++round) {
    fr::assign(s, u, u + 1);
    fr::assign(t, u, 2 * u);
    fr::host_task(
        t,
        [&](fr::mdspan<int, 1> a) {
          for (std::size_t i = 0; i != a.extent(0); ++i) a[i] %= 1000;
          most = usable_cores().size();
        },
        fr::inout(u));
  }
  int expected = 1;
  for (int round = 0; round != 20; ++round) expected = 2 * (expected + 1) % 1000;
  for (const int e : std::as_const(u)) BOOST_TEST_REQUIRE(e == expected);
  BOOST_TEST(most == process_cores().size());  // nothing is bound to cores that do not exist
}

// Threads other than the caller run on the given cores. Each has a part, which waits for the others.
BOOST_AUTO_TEST_CASE(threads_of_kernels_are_bound) {
  const int core = process_cores().back();
  fr::detail::cpu_workers w(3, {core});
  for (int round = 0; round != 5; ++round) {
    std::atomic<int> begun{0};
    std::mutex mutex;
    std::vector<std::vector<int>> others;
    const auto caller = std::this_thread::get_id();
    w.run(3, [&](std::size_t) {
      ++begun;
      while (begun != 3) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      if (std::this_thread::get_id() != caller) others.push_back(usable_cores());
    });
    BOOST_TEST((others == std::vector<std::vector<int>>(2, {core})));
  }
}

// Cores that the process may not use are ignored; without any other, threads are not bound.
BOOST_AUTO_TEST_CASE(cores_of_others_are_not_used) {
  int outside = 0;
  while (std::count(process_cores().begin(), process_cores().end(), outside) != 0) ++outside;
  const int core = process_cores().front();
  for (const auto& [asked, expected] :
       {std::pair{std::vector{core, outside}, std::vector{core}}, {{outside}, process_cores()}}) {
    fr::detail::cpu_workers w(2, asked);
    std::atomic<int> begun{0};
    std::vector<int> seen;
    const auto caller = std::this_thread::get_id();
    w.run(2, [&](std::size_t) {
      ++begun;
      while (begun != 2) std::this_thread::yield();
      if (std::this_thread::get_id() != caller) seen = usable_cores();
    });
    BOOST_TEST(seen == expected);
  }
}

// Streams that overlap run on the cores of their device, work of the calling thread where that is.
BOOST_AUTO_TEST_CASE(streams_run_on_their_node) {
  const int core = process_cores().back();
  {
    const fr::runtime_scope cpu(on_one_core(core, "streams=overlap"));
    const fr::stream s;
    std::vector<int> seen;
    fr::host_task(s, [&] { seen = usable_cores(); });
    s.synchronize();
    BOOST_TEST(seen == std::vector<int>{core});
  }
  const fr::runtime_scope cpu(on_one_core(core, "streams=direct"));
  const fr::stream s;
  std::vector<int> seen;
  fr::host_task(s, [&] { seen = usable_cores(); });
  BOOST_TEST(seen == usable_cores());
}

// What one node runs lets work of another one begin, while the program calls nothing of ferry.
BOOST_AUTO_TEST_CASE(nodes_begin_what_waited_for_another) {
  const fr::runtime_scope cpu(on_one_core(process_cores().back(), "streams=overlap", "3,4"));
  std::atomic<bool> all_is_submitted{false}, is_done{false};
  const fr::stream s(fr::device(0)), t(fr::device(1));
  fr::host_task(s, [&] {
    while (!all_is_submitted) std::this_thread::yield();
  });
  t.wait(s);
  fr::host_task(t, [&] { is_done = true; });
  all_is_submitted = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_done && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  BOOST_TEST(is_done);
}

BOOST_AUTO_TEST_SUITE_END()
