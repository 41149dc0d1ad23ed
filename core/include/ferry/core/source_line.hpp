#pragma once
#include <string>

namespace ferry {

// Where in the program something was asked for. As a default argument: the line of the caller.
struct source_line {
  const char* file = "";
  int line = 0;
  static constexpr source_line here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
  bool is_known() const { return line > 0; }
  // "file.cpp:12", without the folders of the file; "" if unknown.
  std::string text() const;
};

}  // namespace ferry
