// Checks that a text is JSON in UTF-8, exactly as RFC 8259 defines it.
#pragma once
#include <algorithm>
#include <cctype>
#include <cwchar>
#include <locale>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

class json_reader {
 public:
  // The error and the text that follows it; empty for valid JSON.
  static std::string fault(const std::string& text) {
    json_reader r{text};
    try {
      r.need_utf8();
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
  // Uses the standard library, not the code under test.
  void need_utf8() {
    std::string in(left_);
    std::u32string out(in.size(), 0);
    std::mbstate_t state{};
    const auto& facet = std::use_facet<std::codecvt<char32_t, char8_t, std::mbstate_t>>(std::locale::classic());
    const auto* const begin = reinterpret_cast<const char8_t*>(in.data());
    const char8_t* read = begin;
    char32_t* written = out.data();
    const auto result = facet.in(state, begin, begin + in.size(), read, out.data(), out.data() + out.size(), written);
    const bool surrogate = std::any_of(out.begin(), out.end(), [](char32_t c) { return c >= 0xD800 && c < 0xE000; });
    if (result == std::codecvt_base::ok && read == begin + in.size() && !surrogate) return;
    left_.remove_prefix(static_cast<std::size_t>(read - begin));
    refuse("no UTF-8");
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
  void match(const std::regex& pattern, const char* what) {
    std::cmatch found;
    if (!std::regex_search(left_.data(), left_.data() + left_.size(), found, pattern,
                           std::regex_constants::match_continuous))
      refuse(what);
    left_.remove_prefix(static_cast<std::size_t>(found.length()));
  }
  void string() {
    space();
    static const std::regex pattern(R"("([^"\\\x01-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")");
    match(pattern, "no string");
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
    static const std::regex pattern(R"(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)");
    match(pattern, "no value");
  }
  std::string_view left_;
};

}  // namespace support
