#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "ferry/core/memory_limits.hpp"

namespace ferry {

// /proc and /sys are Linux's; elsewhere sysconf alone.
std::size_t system_memory_bytes() {
  static const std::size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    std::size_t all =
        pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : SIZE_MAX;
    for (const char* group : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::ifstream file(group);
      if (std::size_t limit = 0; file >> limit) all = std::min(all, limit);  // "max" does not parse: no limit
    }
    return all;
  }();
  return bytes;
}

}  // namespace ferry
