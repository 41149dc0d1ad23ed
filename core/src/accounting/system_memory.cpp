#include "accounting/system_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "ferry/core/memory_limits.hpp"
#include "support/control_groups.hpp"

namespace ferry::inline FERRY_ABI {
namespace detail {
namespace {

// Returns the least limit of the group and its parents, because each of them bounds the sum of its children.
std::size_t least_limit(const std::string& mount, const std::string& path, const char* file) {
  std::size_t least = SIZE_MAX;
  for_each_group(mount, path, [&](const std::string& folder) {
    std::ifstream in(folder + "/" + file);
    if (std::size_t limit = 0; in >> limit) least = std::min(least, limit);  // "max" does not parse: no limit
  });
  return least;
}

}  // namespace

std::size_t control_group_limit(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::size_t least =
      std::min(least_limit(mounts, {}, "memory.max"), least_limit(mounts + "/memory", {}, "memory.limit_in_bytes"));
  for (const control_group& g : control_groups(root)) {
    if (g.controllers.empty())
      for (const char* mount : {"", "/unified"})
        least = std::min(least, least_limit(mounts + mount, g.path, "memory.max"));
    else if (g.has("memory"))
      least = std::min(least, least_limit(mounts + "/memory", g.path, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace detail

// /proc and /sys exist only on Linux; other systems use only sysconf.
std::size_t system_memory_bytes() {
  static const std::size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const std::size_t all =
        pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : SIZE_MAX;
    return std::min(all, detail::control_group_limit());
  }();
  return bytes;
}

}  // namespace ferry::inline FERRY_ABI
