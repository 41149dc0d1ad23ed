// The topology of real GPUs: addresses, NUMA nodes, links, and bandwidths stored in a file.
#include "cuda_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <unistd.h>

#include <ferry/core/runtime.hpp>
#include <ferry/core/topology.hpp>

#include "ferry/core/detail/runtime/peer.hpp"
#include "support/file_bytes.hpp"
#include "support/quiet_stderr.hpp"

using namespace cuda_test;

namespace cuda_topologies {
namespace {

// Faster than any copy over PCIe: generation 6 with 16 lanes has at most 126 GB/s.
constexpr double faster_than_pcie = 130;

struct file_of_this_test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ferry_cuda_topology_" + std::to_string(getpid()));
  std::string name = (folder / "file").string();
  ~file_of_this_test() { std::filesystem::remove_all(folder); }
};

}  // namespace
}  // namespace cuda_topologies

BOOST_FIXTURE_TEST_SUITE(cuda_topologies, unchanged)

BOOST_AUTO_TEST_CASE(places_are_those_of_the_computer) {
  const topology t = topology::look();
  int count = 0;
  BOOST_REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  BOOST_TEST(t.devices() == static_cast<std::size_t>(count));
  for (const device d : ferry::devices()) {
    const device_place& p = t.place(d);
    BOOST_TEST(std::regex_match(p.pci_bus_id, std::regex("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]")),
               p.pci_bus_id);
    int found = -1;
    BOOST_TEST((cudaDeviceGetByPCIBusId(&found, p.pci_bus_id.c_str()) == cudaSuccess));
    BOOST_TEST(found == d.index());
    BOOST_TEST(p.name == d.properties().name);
    BOOST_TEST(!p.cores.empty());
    if (p.numa_node >= 0)
      BOOST_TEST(std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(p.numa_node)));
    BOOST_TEST(((p.pcie_lanes == 0 && p.pcie_generation == 0) || (p.pcie_lanes > 0 && p.pcie_generation > 0)));
  }
}

BOOST_AUTO_TEST_CASE(links_are_the_same_both_ways, *utf::precondition(needs_devices{2}) * utf::label("two_devices")) {
  topology t = topology::look();
  t.measure();
  for (const device one : ferry::devices())
    for (const device other : ferry::devices()) {
      if (one == other) continue;
      const device_link &there = t.link(one, other), &back = t.link(other, one);
      BOOST_TEST_CONTEXT(one << " and " << other) {
        int can = 0;
        BOOST_REQUIRE(cudaDeviceCanAccessPeer(&can, one.index(), other.index()) == cudaSuccess);
        if (runtime::current().peers().policy().use &&
            runtime::current().peers().why_not(one.index(), other.index()).empty())
          BOOST_TEST(there.peers == (can != 0));
        else
          BOOST_TEST(!there.peers);
        BOOST_TEST(there.peers == back.peers);
        BOOST_TEST(there.atomics == back.atomics);
        BOOST_TEST(there.rank == back.rank);
        BOOST_TEST(there.nvlinks == back.nvlinks);
        BOOST_TEST(there.gb_per_second > 0);
        const bool knows_links = t.place(one).pcie_lanes > 0;  // only with NVML
        if (knows_links && there.gb_per_second > faster_than_pcie) BOOST_TEST(there.nvlinks > 0);
        if (there.nvlinks > 0) BOOST_TEST((can != 0));
      }
    }
  std::ostringstream out;
  out << t;
  BOOST_TEST_MESSAGE(out.str());
  for (const char* part : {"self", "GB/s", "r: the driver's rank"})
    BOOST_TEST(out.str().find(part) != std::string::npos, out.str());
}

BOOST_AUTO_TEST_CASE(bandwidths_are_kept_and_those_of_another_machine_refused) {
  const file_of_this_test file;
  const topology first = topology::measured(file.name);
  BOOST_TEST(first.is_measured());
  for (const device d : ferry::devices()) BOOST_TEST((first.upload(d) > 1 && first.download(d) > 1));
  BOOST_TEST(support::bytes_of(file.name) == first.text());
  {
    const support::quiet_stderr said;
    BOOST_TEST(topology::measured(file.name).text() == first.text());  // equal only if it was not measured again
    BOOST_TEST(said.text() == "");
  }
  std::string foreign = first.text();
  const std::string address = first.place(device(0)).pci_bus_id;
  foreign.replace(foreign.find(address), address.size(), "ffff:ff:1f.0");
  std::ofstream(file.name) << foreign;
  const support::quiet_stderr said;
  const topology again = topology::measured(file.name);
  BOOST_TEST(said.text().find("it is of another machine") != std::string::npos, said.text());
  BOOST_TEST(said.text().find("ffff:ff:1f.0") != std::string::npos, said.text());
  BOOST_TEST(support::bytes_of(file.name) == foreign);  // unchanged
  BOOST_TEST(again.is_measured());
}

BOOST_AUTO_TEST_SUITE_END()
