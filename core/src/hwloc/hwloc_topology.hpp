// hwloc's view of the computer. Without hwloc at build time everything is unknown, and Linux is asked instead.
#pragma once
#include <string>
#include <vector>

namespace ferry::hwloc {

// Cores near a PCI device; empty where nothing is known.
std::vector<int> cores_near(const std::string& pci_bus_id);
// -1 where nothing is known.
int numa_node_of(const std::string& pci_bus_id);

}  // namespace ferry::hwloc
