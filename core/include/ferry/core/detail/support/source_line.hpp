#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

// A parameter that also takes the line of the call: a call whose last parameters are a pack has no place for a default argument.
template <class T>
struct located {
  T value;
  source_line at;
  template <class X>
  requires(std::is_convertible_v<X, T>) located(X&& x, source_line line = source_line::here())
      : value(std::forward<X>(x)),
        at(line) {}
};

namespace detail {
// " in main.cpp:12"; "" for an unknown line.
std::string in_line(source_line at);
// A name as messages quote it: "array 'u'"; for an empty one "an unnamed array". what: "array", "sharded array".
std::string quoted_name(std::string_view name, std::string_view what = "array");
}  // namespace detail

}  // namespace ferry
