#include "printing/number_text.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace ferry::inline FERRY_ABI::detail {
namespace {

using number_buffer = std::array<char, 400>;  // the greatest double has 309 digits

template <class... Precision>
std::string chars_of(auto v, std::chars_format form, Precision... precision) {
  number_buffer b;
  const auto end = std::to_chars(b.data(), b.data() + b.size(), v, form, precision...).ptr;
  return std::string(b.data(), end);
}

// Splits a text such as "-1.25e+07".
number_parts split(std::string_view text) {
  number_parts p;
  if (const auto e = text.find('e'); e != text.npos) p.exponent = text.substr(e + 1), text = text.substr(0, e);
  const auto point = text.find('.');
  p.whole = text.substr(0, point);
  if (point != text.npos) p.fraction = text.substr(point + 1);
  return p;
}
number_parts without_zeros(number_parts p) {
  p.fraction.resize(p.fraction.find_last_not_of('0') + 1);
  return p;
}

template <class T>
bool is_rounded_to(double near, double v) {
  return static_cast<double>(static_cast<float>(T(static_cast<float>(near)))) == v;
}
// Returns the fewest digits behind the point, in scientific form, that name v among the numbers of type T.
template <class T>
int shortest_digits(double v) {
  for (int digits = 0;; ++digits) {
    const std::string text = chars_of(v, std::chars_format::scientific, digits);
    double near = 0;
    std::from_chars(text.data(), text.data() + text.size(), near);
    if (is_rounded_to<T>(near, v) || digits == 16) return digits;
  }
}

number_parts shortest_scientific(double v, scalar_type type) {
  constexpr auto form = std::chars_format::scientific;
  switch (type) {
    case scalar_type::half: return split(chars_of(v, form, shortest_digits<half>(v)));
    case scalar_type::bfloat16: return split(chars_of(v, form, shortest_digits<bfloat16>(v)));
    case scalar_type::float32: return split(chars_of(static_cast<float>(v), form));
    default: return split(chars_of(v, form));
  }
}

}  // namespace

number_parts scientific_parts(double v, scalar_type type, std::size_t precision) {
  number_parts p = shortest_scientific(v, type);
  if (p.fraction.size() > precision) p = split(chars_of(v, std::chars_format::scientific, static_cast<int>(precision)));
  return without_zeros(std::move(p));
}

number_parts plain_parts(double v, scalar_type type, std::size_t precision) {
  const number_parts p = shortest_scientific(v, type);
  int exponent = 0;
  const char* const first = p.exponent.data() + (p.exponent[0] == '+');
  std::from_chars(first, p.exponent.data() + p.exponent.size(), exponent);
  const int needed = static_cast<int>(p.fraction.size()) - exponent;  // digits behind the point
  const int most = static_cast<int>(precision);
  return without_zeros(split(chars_of(v, std::chars_format::fixed, needed < 0 ? 0 : needed < most ? needed : most)));
}

}  // namespace ferry::inline FERRY_ABI::detail
