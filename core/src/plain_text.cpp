#include "ferry/core/plain_text.hpp"

#include <iomanip>
#include <locale>

namespace ferry::detail {

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

}  // namespace ferry::detail
