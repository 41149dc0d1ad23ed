// Whether a text is JSON, by the letter of RFC 8259.
#pragma once
#include <cctype>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

class json_reader {
 public:
  // What is wrong, and the text from there on; empty for JSON.
  static std::string fault(const std::string& text) {
    json_reader r{text};
    try {
      r.value();
      r.space();
      if (!r.left_.empty()) r.refuse("more than one value");
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return {};
  }

 private:
  explicit json_reader(std::string_view text) : left_(text) {}
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::runtime_error(what + " at: " + std::string(left_.substr(0, 60)));
  }
  void space() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size())); }
  bool take(char c) {
    space();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  void need(char c) {
    if (!take(c)) refuse(std::string("no ") + c);
  }
  void match(const char* pattern, const char* what) {
    std::cmatch found;
    if (!std::regex_search(left_.data(), left_.data() + left_.size(), found, std::regex(pattern),
                           std::regex_constants::match_continuous))
      refuse(what);
    left_.remove_prefix(static_cast<std::size_t>(found.length()));
  }
  void string() {
    space();
    match(R"("([^"\\\x01-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")", "no string");
  }
  template <class Item>
  void list(char end, Item item) {
    if (take(end)) return;
    do item();
    while (take(','));
    need(end);
  }
  void value() {
    space();
    if (take('{'))
      return list('}', [&] {
        string();
        need(':');
        value();
      });
    if (take('[')) return list(']', [&] { value(); });
    if (left_.starts_with('"')) return string();
    match(R"(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)", "no value");
  }
  std::string_view left_;
};

}  // namespace support
