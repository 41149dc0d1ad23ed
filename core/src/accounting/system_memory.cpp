#include "accounting/system_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "ferry/core/memory_limits.hpp"

namespace ferry::inline FERRY_ABI {
namespace detail {
namespace {

// Returns the least limit of the group and its parents, because each of them bounds the sum of its children. In a
// container the group's path may be that of the host and not exist. Then the limits of existing parents apply, at least
// that of the root.
std::size_t least_limit(const std::string& mount, std::string group, const char* file) {
  std::size_t least = SIZE_MAX;
  for (;;) {
    std::ifstream in(mount + group + "/" + file);
    if (std::size_t limit = 0; in >> limit) least = std::min(least, limit);  // "max" does not parse: no limit
    if (group.empty()) return least;
    group.erase(group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  }
}

bool is_listed(const std::string& list, const std::string& what) {
  return ("," + list + ",").find("," + what + ",") != std::string::npos;
}

}  // namespace

std::size_t control_group_limit(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::size_t least =
      std::min(least_limit(mounts, {}, "memory.max"), least_limit(mounts + "/memory", {}, "memory.limit_in_bytes"));
  std::ifstream groups(root + "/proc/self/cgroup");
  // number:controllers:/path; version 2 has number 0 and no controllers
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty())
      for (const char* mount : {"", "/unified"})
        least = std::min(least, least_limit(mounts + mount, group, "memory.max"));
    else if (is_listed(controllers, "memory"))
      least = std::min(least, least_limit(mounts + "/memory", group, "memory.limit_in_bytes"));
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
