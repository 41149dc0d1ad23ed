// Host topology by hwloc. In builds without hwloc all results are unknown, and ferry reads Linux's files instead.
#pragma once
#include <string>
#include <vector>

#include "ferry/core/detail/support/numa_node.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::hwloc {

// Returns the cores near a PCI device; empty if unknown.
std::vector<int> cores_near(const std::string& pci_bus_id);
// Returns the NUMA node of a PCI device; -1 if unknown.
int numa_node_of(const std::string& pci_bus_id);
// Returns the NUMA nodes that have cores, by number, with all of their cores. Reads the topology at each call, which
// HWLOC_SYNTHETIC may replace. Empty if unknown.
std::vector<numa_node> numa_nodes();

}  // namespace ferry::inline FERRY_ABI::detail::hwloc
