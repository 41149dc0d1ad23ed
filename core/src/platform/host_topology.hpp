// Host topology: cores and NUMA nodes near a PCI device.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/support/numa_node.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the cores near a PCI device ("0000:1b:00.0") that this process may use; all usable cores if unknown.
std::vector<int> cores_near(const std::string& pci_bus_id);
// As cores_near(), but empty if that would be all usable cores: the choice does not matter then.
std::vector<int> nearer_cores(const std::string& pci_bus_id);
// Returns the NUMA node of a PCI device; -1 if unknown.
int numa_node_of(const std::string& pci_bus_id);
// Returns the NUMA nodes with cores that this process may use, by number. At least one: node 0 has all usable cores if
// no nodes are known.
std::vector<numa_node> numa_nodes();
// Parses a Linux list of core numbers such as "0-3,8,10-11". Returns an empty list for other text.
std::vector<int> parse_core_list(std::string_view text);

}  // namespace ferry::inline FERRY_ABI::detail
