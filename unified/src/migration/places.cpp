#include "migration/places.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// If Linux does not list the nodes, the driver decides.
bool has_numa_node(const runtime& m, int node) {
  if (m.is_simulated()) return node == 0;
  const std::filesystem::path all = "/sys/devices/system/node";
  std::error_code failed;
  return !std::filesystem::is_directory(all, failed) ||
         std::filesystem::is_directory(all / concat("node", node), failed);
}

}  // namespace

void check_place(runtime& m, memory_location where) {
  if (!where.is_host())
    (void)m.properties(where.device);
  else if (where.numa_node >= 0 && !has_numa_node(m, where.numa_node))
    throw invalid_argument(concat("there is no NUMA node ", where.numa_node, " of the CPU: ",
                                  m.is_simulated()
                                      ? "simulated machines have node 0"
                                      : "`ls -d /sys/devices/system/node/node*` shows those that there are",
                                  "; ferry::host, or cpu in a policy, is any"));
}

void each_place(runtime& m, std::size_t page, std::span<const page_run> runs,
                const std::function<void(int, byte_range)>& f) {
  for (const page_run& g : runs) {
    if (g.where != unknown_location && !g.is_advised()) {
      f(g.where, g.range());
      continue;
    }
    for (const std::byte* at = g.begin; at < g.end;) {
      const auto next = (reinterpret_cast<std::uintptr_t>(at) / page + 1) * page;
      const std::byte* end = std::min(reinterpret_cast<const std::byte*>(next), g.end);
      const auto place = m.backend().prefetched_to(at, static_cast<std::size_t>(end - at));
      f(!place ? unknown_location : place->is_host() ? on_the_cpu : place->device, {at, end});
      at = end;
    }
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
