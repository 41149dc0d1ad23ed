#include "ferry/core/detail/support/cpu_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "ferry/core/detail/support/thread_affinity.hpp"
#include "support/control_groups.hpp"

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

// The smallest limit of a group and of those around it.
template <class Limit>
std::size_t smallest_limit(const std::string& mount, const std::string& path, Limit limit) {
  std::size_t least = 0;
  for_each_group(mount, path, [&](const std::string& folder) { least = smaller_limit(least, limit(folder)); });
  return least;
}

}  // namespace

std::size_t cpu_quota(const std::string& root) {
  std::size_t least = 0;
  const std::string mounts = root + "/sys/fs/cgroup";
  for (const control_group& g : control_groups(root)) {
    if (g.controllers.empty()) {
      for (const char* const mount : {"", "/unified"})
        least = smaller_limit(least, smallest_limit(mounts + mount, g.path, limit_of_version_2));
    } else if (g.has("cpu")) {
      for (const std::string& mount : {std::string("cpu"), g.controllers})
        least = smaller_limit(least, smallest_limit(mounts + '/' + mount, g.path, limit_of_version_1));
    }
  }
  return least;
}

std::size_t parallel_threads() {
  static const std::size_t threads = smaller_limit(process_cores().size(), cpu_quota());
  return threads;
}

}  // namespace ferry::inline FERRY_ABI::detail
