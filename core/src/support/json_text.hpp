// Strings and lists as JSON.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/support/plain_text.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline std::string json_text(std::string_view s) { return json_string(s); }

// text(item) must return an item as JSON.
template <class Items, class Text>
std::string json_list(const Items& items, Text text, std::string_view between = ",") {
  std::string s = "[";
  for (const auto& i : items) {
    if (s.size() > 1) s += between;
    s += text(i);
  }
  return s + "]";
}

}  // namespace ferry::inline FERRY_ABI::detail
