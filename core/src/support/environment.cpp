#include "support/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include "ferry/core/error.hpp"

namespace ferry {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::size_t environment_choice(const char* name, std::initializer_list<std::string_view> allowed) {
  const std::string value = environment(name);
  if (value.empty()) return 0;
  const auto* found = std::find(allowed.begin(), allowed.end(), value);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  std::string list;
  for (const std::string_view a : allowed) list += (list.empty() ? "" : ", ") + std::string(a);
  throw parse_error(std::string(name) + "='" + value + "' is not allowed; allowed are " + list);
}

}  // namespace ferry
