// Whose PCIe links are of use to another device.
#pragma once
#include <vector>

namespace ferry {

// Without the devices to which no NVLink goes: what they forward would cross the PCIe switch that it is to avoid.
// nvlinks(device) is their number, negative where nobody knows.
template <class Nvlinks>
std::vector<int> nvlink_neighbours(std::vector<int> devices, Nvlinks nvlinks) {
  std::erase_if(devices, [&](int d) { return nvlinks(d) == 0; });
  return devices;
}

}  // namespace ferry
