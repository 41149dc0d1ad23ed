#include "ferry/core/detail/support/plain_text.hpp"

#include <array>
#include <cstdio>
#include <iomanip>
#include <locale>
#include <sstream>

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the length of the UTF-8 character (RFC 3629) at the start of the text; 0 if it is invalid.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F, too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : n;
}

}  // namespace

std::string utf8_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = character_bytes(text);
    out += n == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : utf8_text(text))
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code.data();
    } else {
      out += c;
    }
  return out + '"';
}

plain_stream::plain_stream() { imbue(std::locale::classic()); }

std::string fixed_text(double x, int digits) {
  plain_stream out;
  out << std::fixed << std::setprecision(digits) << x;
  return out.str();
}

std::string short_text(double x, int digits) {
  plain_stream out;
  out << std::setprecision(digits) << x;
  return out.str();
}

double plain_number(std::string_view text) {
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double x = 0;
  in >> x;
  return x;
}

}  // namespace ferry::inline FERRY_ABI::detail
