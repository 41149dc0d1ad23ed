// Strings and lists as JSON.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace ferry {

inline std::string json_text(std::string_view s) {
  std::string out = "\"";
  for (const char c : s)
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {  // '<' so that pages may embed it in a script
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  return out + '"';
}

// text(item) gives each item as JSON.
template <class Items, class Text>
std::string json_list(const Items& items, Text text, std::string_view between = ",") {
  std::string s = "[";
  for (const auto& i : items) {
    if (s.size() > 1) s += between;
    s += text(i);
  }
  return s + "]";
}

}  // namespace ferry
