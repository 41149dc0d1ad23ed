// A NUMA node of this machine.
#pragma once
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct numa_node {
  int number = 0;          // the system's
  std::vector<int> cores;  // that this process may use; at least one
  bool can_bind = true;    // false: of a made-up topology (HWLOC_SYNTHETIC), whose cores do not exist
  bool operator==(const numa_node&) const = default;
};

}  // namespace ferry::inline FERRY_ABI::detail
