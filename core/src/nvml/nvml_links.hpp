// NVLink and PCIe links of GPUs by NVML. The library is loaded at first use; without it all results are unknown.
#pragma once
#include <string>
#include <vector>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::nvml {

struct pcie_link {
  int generation = 0, lanes = 0;  // 0: unknown
};

// Returns the number of NVLinks from one GPU to another, direct or through switches; -1 if unknown.
int nvlinks_between(const std::string& from_pci, const std::string& to_pci);
pcie_link pcie_of(const std::string& pci);

}  // namespace ferry::inline FERRY_ABI::detail::nvml
