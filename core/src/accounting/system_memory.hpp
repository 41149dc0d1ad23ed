// Amount of memory that the system allows this process.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the least limit of the process's control group and its parents (version 2 or 1); SIZE_MAX if there is none.
// root: prefix of all paths (for tests).
std::size_t control_group_limit(const std::string& root = {});

}  // namespace ferry::inline FERRY_ABI::detail
