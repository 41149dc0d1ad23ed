#include "platform/host_topology.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"
#include "hwloc/hwloc_topology.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the first line of a Linux sysfs file of a PCI device; empty if there is none.
std::string line_about(const std::string& pci_bus_id, const char* what) {
  if (pci_bus_id.empty()) return {};
  std::ifstream in("/sys/bus/pci/devices/" + pci_bus_id + "/" + what);
  std::string line;
  std::getline(in, line);
  return line;
}

void keep_usable(std::vector<int>& cores) {
  const std::vector<int>& usable = process_cores();
  std::erase_if(cores, [&](int c) { return std::find(usable.begin(), usable.end(), c) == usable.end(); });
}

std::vector<int> find_cores(const std::string& pci_bus_id) {
  std::vector<int> near = hwloc::cores_near(pci_bus_id);
  if (near.empty()) near = parse_core_list(line_about(pci_bus_id, "local_cpulist"));
  keep_usable(near);
  return near.empty() ? process_cores() : near;
}

// Returns the nodes that Linux lists, by number.
std::vector<numa_node> listed_nodes() {
  const auto line_of = [](const std::string& file) {
    std::ifstream in("/sys/devices/system/node/" + file);
    std::string line;
    std::getline(in, line);
    return line;
  };
  std::vector<numa_node> nodes;
  for (const int n : parse_core_list(line_of("online")))
    nodes.push_back({n, parse_core_list(line_of(concat("node", n, "/cpulist"))), true});
  return nodes;
}

}  // namespace

std::vector<int> cores_near(const std::string& pci_bus_id) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::vector<int>>;
  std::lock_guard lock(mutex);
  const auto [at, fresh] = known->try_emplace(pci_bus_id);
  if (fresh) at->second = find_cores(pci_bus_id);
  return at->second;
}

std::vector<int> nearer_cores(const std::string& pci_bus_id) {
  std::vector<int> near = cores_near(pci_bus_id);
  if (near.size() >= process_cores().size()) near.clear();
  return near;
}

int numa_node_of(const std::string& pci_bus_id) {
  if (const int node = hwloc::numa_node_of(pci_bus_id); node >= 0) return node;
  const std::string line = line_about(pci_bus_id, "numa_node");
  int node = -1;
  std::from_chars(line.data(), line.data() + line.size(), node);
  return node;
}

std::vector<numa_node> numa_nodes() {
  std::vector<numa_node> nodes = hwloc::numa_nodes();
  if (nodes.empty()) nodes = listed_nodes();
  for (numa_node& n : nodes)
    if (n.can_bind) keep_usable(n.cores);
  std::erase_if(nodes, [](const numa_node& n) { return n.cores.empty(); });
  if (nodes.empty()) nodes.push_back({0, process_cores(), true});
  return nodes;
}

std::vector<int> parse_core_list(std::string_view text) {
  std::vector<int> cores;
  const char *at = text.data(), *const end = at + text.size();
  while (at != end) {
    int first = 0;
    auto [next, wrong] = std::from_chars(at, end, first);
    if (wrong != std::errc{}) return {};
    int last = first;
    if (next != end && *next == '-') {
      const auto [after, bad] = std::from_chars(next + 1, end, last);
      if (bad != std::errc{} || last < first || last - first > 65536) return {};
      next = after;
    }
    for (int c = first; c <= last; ++c) cores.push_back(c);
    if (next != end && *next != ',') return {};
    at = next == end ? end : next + 1;
  }
  return cores;
}

}  // namespace ferry::inline FERRY_ABI::detail
