// The control groups of the process. They and the groups around them limit its memory and its cores' time.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct control_group {
  std::string controllers;  // separated by commas; empty: all those of version 2
  std::string path;         // below the controllers' mount point
  bool has(std::string_view controller) const;
};
// Reads /proc/self/cgroup below `root`.
std::vector<control_group> control_groups(const std::string& root);

// Calls f(folder) for a group and for those around it, up to the mount point. In a container, the path may be that
// outside of it: then only the folder of the mount point exists.
template <class F>
void for_each_group(const std::string& mount, std::string path, F f) {
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    f(mount + path);
    if (path.empty()) return;
    path.erase(path.rfind('/') == path.npos ? 0 : path.rfind('/'));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
