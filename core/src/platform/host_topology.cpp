#include "platform/host_topology.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>

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

std::vector<int> find_cores(const std::string& pci_bus_id) {
  std::vector<int> near = hwloc::cores_near(pci_bus_id);
  if (near.empty()) near = parse_core_list(line_about(pci_bus_id, "local_cpulist"));
  const std::vector<int>& usable = process_cores();
  std::erase_if(near, [&](int c) { return std::find(usable.begin(), usable.end(), c) == usable.end(); });
  return near.empty() ? usable : near;
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
