/// @file
/// Source lines of calls, for error messages.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup errors
/// @{

/// Source line of a call. As a default argument, the line of the caller.
struct source_line {
  const char* file = "";
  int line = 0;
  /// Returns the line of the caller.
  static constexpr source_line here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
  /// True if the line is known.
  bool is_known() const { return line > 0; }
  /// "file.cpp:12", without the folders of the file; "" if unknown.
  std::string text() const;
};

/// A parameter with the source line of the call, for functions whose trailing parameter pack precludes a default
/// argument. It converts from X, so callers pass the value.
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
// A quoted name for messages: "array 'u'"; "an unnamed array" for an empty one. what: "array", "sharded array".
std::string quoted_name(std::string_view name, std::string_view what = "array");
}  // namespace detail

/// @}

}  // namespace ferry::inline FERRY_ABI
