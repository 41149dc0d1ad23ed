// Text that is read again, by programs and by people: whatever locale the program has set, numbers are written as C++ does.
#pragma once
#include <sstream>
#include <string>
#include <string_view>

namespace ferry::detail {

class plain_stream : public std::ostringstream {
 public:
  plain_stream();
};

// With so many digits behind the point; with so many digits in all, as %g has it.
std::string fixed_text(double x, int digits);
std::string short_text(double x, int digits = 6);
// The text with U+FFFD in the place of each byte that belongs to no character of UTF-8, for JSON, HTML and SVG.
std::string utf8_text(std::string_view text);
// A string of JSON with its quotes. '<' is escaped, so that pages may embed it in a script.
std::string json_string(std::string_view text);
// Of digits with at most one point. Too large a number becomes the largest there is.
double plain_number(std::string_view text);

}  // namespace ferry::detail
