#include "hwloc_topology.hpp"

#if FERRY_HAS_HWLOC
#include <hwloc.h>

#include <cstdio>

namespace ferry::inline FERRY_ABI::detail::hwloc {
namespace {

// The topology of this host, loaded once; null if hwloc fails.
hwloc_topology_t computer() {
  static const hwloc_topology_t loaded = [] {
    hwloc_topology_t t = nullptr;
    if (hwloc_topology_init(&t) != 0) return hwloc_topology_t{};
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(t) == 0) return t;
    hwloc_topology_destroy(t);
    return hwloc_topology_t{};
  }();
  return loaded;
}

// Returns the part of the host that a PCI device is attached to; null if unknown.
hwloc_obj_t place_of(const std::string& pci_bus_id) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (!computer() || std::sscanf(pci_bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
    return nullptr;
  const hwloc_obj_t pci = hwloc_get_pcidev_by_busid(computer(), domain, bus, device, function);
  return pci ? hwloc_get_non_io_ancestor_obj(computer(), pci) : nullptr;
}

template <class F>
void each_bit(hwloc_const_bitmap_t set, F f) {
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) f(i);
}

}  // namespace

std::vector<int> cores_near(const std::string& pci_bus_id) {
  std::vector<int> cores;
  if (const hwloc_obj_t at = place_of(pci_bus_id); at && at->cpuset)
    each_bit(at->cpuset, [&](int c) { cores.push_back(c); });
  return cores;
}

int numa_node_of(const std::string& pci_bus_id) {
  const hwloc_obj_t at = place_of(pci_bus_id);
  return at && at->nodeset ? hwloc_bitmap_first(at->nodeset) : -1;
}

}  // namespace ferry::inline FERRY_ABI::detail::hwloc

#else

namespace ferry::inline FERRY_ABI::detail::hwloc {

std::vector<int> cores_near(const std::string&) { return {}; }
int numa_node_of(const std::string&) { return -1; }

}  // namespace ferry::inline FERRY_ABI::detail::hwloc

#endif
