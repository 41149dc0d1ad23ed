#include "support/control_groups.hpp"

#include <algorithm>
#include <fstream>

#include "ferry/core/detail/support/text_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool control_group::has(std::string_view controller) const {
  const std::vector<std::string_view> all = split_text(controllers, ',');
  return std::find(all.begin(), all.end(), controller) != all.end();
}

std::vector<control_group> control_groups(const std::string& root) {
  std::vector<control_group> groups;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // number:controllers:path; paths may have colons
    const auto after_number = cut_text(line, ':');
    const auto pair = after_number ? cut_text(after_number->second, ':') : std::nullopt;
    if (pair) groups.push_back({std::string(pair->first), std::string(pair->second)});
  }
  return groups;
}

}  // namespace ferry::inline FERRY_ABI::detail
