#include "ferry/core/detail/support/cpu_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "ferry/core/detail/support/thread_affinity.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Cores' time from a quota and a period; 0 without a limit.
std::size_t cores_from(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(quota / period)));
}

std::size_t limit_of_version_2(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream file(folder + "/cpu.max");
  if (!(file >> quota >> period)) return 0;  // the word max, or no file
  return cores_from(quota, period);
}

std::size_t limit_of_version_1(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream quotas(folder + "/cpu.cfs_quota_us"), periods(folder + "/cpu.cfs_period_us");
  if (!(quotas >> quota) || !(periods >> period)) return 0;
  return cores_from(quota, period);  // -1: no limit
}

std::size_t smaller_limit(std::size_t a, std::size_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// The smallest limit of a group and of those around it. In a container, the names may be those outside of it: then only
// the group at the mount point exists.
template <class Limit>
std::size_t smallest_limit(const std::string& mount, std::string group, Limit limit) {
  std::size_t least = 0;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    least = smaller_limit(least, limit(mount + group));
    if (group.empty()) return least;
    group.erase(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

bool has_controller(const std::string& controllers, const std::string& name) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');)
    if (one == name) return true;
  return false;
}

}  // namespace

std::size_t cpu_quota(const std::string& root) {
  std::size_t least = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:group
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    const std::string all = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      for (const char* const mount : {"", "/unified"})
        least = smaller_limit(least, smallest_limit(all + mount, group, limit_of_version_2));
    } else if (has_controller(controllers, "cpu")) {
      for (const std::string& mount : {std::string("cpu"), controllers})
        least = smaller_limit(least, smallest_limit(all + '/' + mount, group, limit_of_version_1));
    }
  }
  return least;
}

std::size_t parallel_threads() {
  static const std::size_t threads = smaller_limit(process_cores().size(), cpu_quota());
  return threads;
}

}  // namespace ferry::inline FERRY_ABI::detail
