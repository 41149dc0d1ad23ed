// What NVML knows of the wires of GPUs. The library is loaded at first use; without it everything is unknown.
#pragma once
#include <string>
#include <vector>

namespace ferry::nvml {

struct pcie_link {
  int generation = 0, lanes = 0;  // 0: unknown
};

// NVLinks from one GPU to another: straight, or both to the switches; -1: unknown.
int nvlinks_between(const std::string& from_pci, const std::string& to_pci);
pcie_link pcie_of(const std::string& pci);

}  // namespace ferry::nvml
