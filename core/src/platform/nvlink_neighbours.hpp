// Devices whose PCIe links can help another device.
#pragma once
#include <vector>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Removes the devices that have no NVLink to the other one, because forwarded data would cross the PCIe switch that
// should be avoided. nvlinks(device): the number of links, negative if unknown.
template <class Nvlinks>
std::vector<int> nvlink_neighbours(std::vector<int> devices, Nvlinks nvlinks) {
  std::erase_if(devices, [&](int d) { return nvlinks(d) == 0; });
  return devices;
}

}  // namespace ferry::inline FERRY_ABI::detail
