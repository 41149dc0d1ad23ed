// How much memory the system lets this process have.
#pragma once
#include <cstddef>
#include <string>

namespace ferry {

// The least limit of the process's control group and of those above it (version 2 or 1); SIZE_MAX if there is none. root: what
// stands for / (tests have a tree of their own).
std::size_t control_group_limit(const std::string& root = {});

}  // namespace ferry
