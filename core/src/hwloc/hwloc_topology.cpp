#include "hwloc_topology.hpp"

#if FERRY_HAS_HWLOC
#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <memory>

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

std::vector<numa_node> numa_nodes() {
  hwloc_topology_t loading = nullptr;
  if (hwloc_topology_init(&loading) != 0) return {};
  const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> t(loading, hwloc_topology_destroy);
  if (hwloc_topology_load(loading) != 0) return {};
  const bool can_bind = hwloc_topology_is_thissystem(loading) != 0;
  std::vector<numa_node> nodes;
  for (hwloc_obj_t n = nullptr; (n = hwloc_get_next_obj_by_type(loading, HWLOC_OBJ_NUMANODE, n)) != nullptr;) {
    numa_node node{static_cast<int>(n->os_index), {}, can_bind};
    if (n->cpuset) each_bit(n->cpuset, [&](int c) { node.cores.push_back(c); });
    if (!node.cores.empty()) nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const numa_node& a, const numa_node& b) { return a.number < b.number; });
  return nodes;
}

}  // namespace ferry::inline FERRY_ABI::detail::hwloc

#else

namespace ferry::inline FERRY_ABI::detail::hwloc {

std::vector<int> cores_near(const std::string&) { return {}; }
int numa_node_of(const std::string&) { return -1; }
std::vector<numa_node> numa_nodes() { return {}; }

}  // namespace ferry::inline FERRY_ABI::detail::hwloc

#endif
