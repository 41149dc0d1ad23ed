// Locale-independent text for programs and reports: numbers are always formatted as in the C locale.
#pragma once
#include <sstream>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

class plain_stream : public std::ostringstream {
 public:
  plain_stream();
};

// fixed_text: this many digits after the point. short_text: this many significant digits, as %g.
std::string fixed_text(double x, int digits);
std::string short_text(double x, int digits = 6);
// Replaces each byte that is not part of a UTF-8 character by U+FFFD, for JSON.
std::string utf8_text(std::string_view text);
// A JSON string with quotes. Escapes '<', so that pages may embed it in a script.
std::string json_string(std::string_view text);
// Value of a text of digits with at most one point. Values out of range become the largest double.
double plain_number(std::string_view text);

}  // namespace ferry::inline FERRY_ABI::detail
