// Text of source code, line by line.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

class source_builder {
 public:
  // Appends the parts: texts and integers.
  template <class... Parts>
  source_builder& add(const Parts&... parts) {
    (append(parts), ...);
    return *this;
  }
  // Appends the parts as a line of its own, indented.
  template <class... Parts>
  source_builder& line(const Parts&... parts) {
    text_.append(2 * depth_, ' ');
    return add(parts..., "\n");
  }
  void open(const std::string& head) {
    line(head, head.empty() ? "{" : " {");
    ++depth_;
  }
  void close(std::string_view tail = "") {
    --depth_;
    line("}", tail);
  }
  std::string& text() { return text_; }

 private:
  void append(std::string_view part) { text_ += part; }
  void append(const std::string& part) { text_ += part; }
  void append(const char* part) { text_ += part; }
  template <class Int>
  requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool> && !std::is_same_v<Int, char>) void append(Int part) {
    text_ += std::to_string(part);
  }
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
