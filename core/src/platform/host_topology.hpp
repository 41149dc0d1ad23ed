// Where things are in the computer: which cores and which part of the memory are near a PCI device.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// Cores near a PCI device ("0000:1b:00.0") that this process may use; all usable ones where nothing is known.
std::vector<int> cores_near(const std::string& pci_bus_id);
// The same where that is not all of them; else empty: then it does not matter where something runs.
std::vector<int> nearer_cores(const std::string& pci_bus_id);
// The NUMA node of a PCI device; -1 where nothing is known.
int numa_node_of(const std::string& pci_bus_id);
// Core numbers from a list as Linux writes it: "0-3,8,10-11". Empty for what is no such list.
std::vector<int> parse_core_list(std::string_view text);

}  // namespace ferry
