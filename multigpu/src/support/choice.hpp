// Values of environment variables.
#pragma once
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "ferry/core/error.hpp"

namespace ferry {

// Returns the index of a variable's value among the allowed words; the first word is the default. Throws parse_error.
inline std::size_t choice(const char* name, std::initializer_list<const char*> allowed) {
  const char* given = std::getenv(name);
  if (!given || !*given) return 0;
  std::string list;
  for (const char* const* a = allowed.begin(); a != allowed.end(); ++a) {
    if (std::strcmp(given, *a) == 0) return static_cast<std::size_t>(a - allowed.begin());
    list += (list.empty() ? "" : ", ") + std::string(*a);
  }
  throw parse_error(std::string(name) + "='" + given + "' is not allowed; allowed are " + list);
}

}  // namespace ferry
