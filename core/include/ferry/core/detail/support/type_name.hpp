// Names of types for messages and traces.
#pragma once
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The compiler's spelling of T; lives as long as the program.
template <class T>
consteval std::string_view type_name() {
  std::string_view s = __PRETTY_FUNCTION__;
  if (const auto at = s.find("T = "); at != s.npos) {
    s.remove_prefix(at + 4);
    const auto end = s.find_first_of(";]");
    return s.substr(0, end);
  }
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
