#include "printing/element_format.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/half.hpp"
#include "printing/number_text.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string on_the_right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

// Format of floating point numbers. It has exponents if the greatest magnitude is at least 1e8, the least is below
// 1e-4, or their quotient is above 1000.
class float_format {
 public:
  // is_signed: positive numbers get a sign, too.
  float_format(const std::vector<double>& all, scalar_type type, std::size_t precision, bool is_signed)
      : type_(type),
        precision_(precision),
        is_signed_(is_signed) {
    double least = 0, most = 0;
    bool is_any_finite = false, is_any_special = false, is_any_negative_infinity = false;
    for (const double v : all) {
      is_any_special = is_any_special || !std::isfinite(v);
      is_any_negative_infinity = is_any_negative_infinity || (std::isinf(v) && v < 0);
      is_any_finite = is_any_finite || std::isfinite(v);
      if (!std::isfinite(v) || v == 0) continue;
      const double size = std::abs(v);
      most = std::max(most, size);
      least = least == 0 ? size : std::min(least, size);
    }
    has_exponent_ = most != 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
    std::size_t fraction = 0;
    for (const double v : all) {
      if (!std::isfinite(v)) continue;
      const number_parts p = parts(v);
      left_ = std::max(left_, p.whole.size());
      fraction = std::max(fraction, p.fraction.size());
      exponent_digits_ = std::max(exponent_digits_, p.exponent.size());
    }
    digits_ = fraction;
    right_ = fraction + (has_exponent_ && is_any_finite ? exponent_digits_ + 1 : 0);
    if (!is_any_special) return;
    const std::size_t infinity = 3 + (is_signed_ || is_any_negative_infinity ? 1 : 0);
    left_ = std::max(
        {left_, std::size_t{3} - std::min<std::size_t>(3, right_ + 1), infinity - std::min(infinity, right_ + 1)});
  }
  std::string operator()(double v) const {
    if (!std::isfinite(v)) {
      const bool is_negative = !std::isnan(v) && v < 0;
      const char* const sign = is_negative ? "-" : is_signed_ ? "+" : "";
      return on_the_right(concat(sign, std::isnan(v) ? "nan" : "inf"), left_ + right_ + 1);
    }
    const number_parts p = parts(v);
    std::string text = on_the_right(p.whole, left_) + "." + p.fraction;
    if (!has_exponent_) return text + std::string(right_ - p.fraction.size(), ' ');
    text += std::string(digits_ - p.fraction.size(), '0') + "e" + p.exponent[0];
    return text + std::string(exponent_digits_ - p.exponent.size(), '0') + p.exponent.substr(1);
  }

 private:
  number_parts parts(double v) const {
    number_parts p = has_exponent_ ? scientific_parts(v, type_, precision_) : plain_parts(v, type_, precision_);
    if (is_signed_ && p.whole[0] != '-') p.whole.insert(0, 1, '+');
    return p;
  }
  scalar_type type_;
  std::size_t precision_;
  bool is_signed_, has_exponent_ = false;
  std::size_t left_ = 0, right_ = 0, digits_ = 0, exponent_digits_ = 0;  // exponents with their sign
};

template <class T>
auto integer_format(const shown_elements& all) {
  std::size_t width = 0;
  for (std::size_t i = 0; i != all.count(); ++i) width = std::max(width, std::to_string(all.at<T>(i)).size());
  return [&all, width](std::size_t i) { return on_the_right(std::to_string(all.at<T>(i)), width); };
}
template <class T>
auto real_format(const shown_elements& all, std::size_t precision) {
  std::vector<double> v(all.count());
  for (std::size_t i = 0; i != v.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      v[i] = all.at<T>(i);
    else
      v[i] = static_cast<float>(all.at<T>(i));
  }
  const float_format format(v, all.type(), precision, false);
  return [v = std::move(v), format](std::size_t i) { return format(v[i]); };
}
template <class T>
auto complex_format(const shown_elements& all, std::size_t precision) {
  std::vector<double> re(all.count()), im(all.count());
  for (std::size_t i = 0; i != re.size(); ++i) {
    const auto z = all.at<std::complex<T>>(i);
    re[i] = z.real(), im[i] = z.imag();
  }
  const float_format first(re, real_of(all.type()), precision, false), second(im, real_of(all.type()), precision, true);
  return [re = std::move(re), im = std::move(im), first, second](std::size_t i) {
    std::string text = second(im[i]);
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return first(re[i]) + text;
  };
}

}  // namespace

std::function<std::string(std::size_t)> element_format(const shown_elements& all, std::size_t precision) {
  using enum scalar_type;
  switch (all.type()) {
    case boolean:
      return [&all](std::size_t i) {
        const bool v = all.at<std::uint8_t>(i) != 0;
        return std::string(v ? (all.rank() == 0 ? "True" : " True") : "False");
      };
    case int8: return integer_format<std::int8_t>(all);
    case uint8: return integer_format<std::uint8_t>(all);
    case int16: return integer_format<std::int16_t>(all);
    case uint16: return integer_format<std::uint16_t>(all);
    case int32: return integer_format<std::int32_t>(all);
    case uint32: return integer_format<std::uint32_t>(all);
    case int64: return integer_format<std::int64_t>(all);
    case uint64: return integer_format<std::uint64_t>(all);
    case scalar_type::half: return real_format<ferry::half>(all, precision);
    case scalar_type::bfloat16: return real_format<ferry::bfloat16>(all, precision);
    case float32: return real_format<float>(all, precision);
    case float64: return real_format<double>(all, precision);
    case complex64: return complex_format<float>(all, precision);
    case complex128: return complex_format<double>(all, precision);
    case none: break;
  }
  return {};
}

}  // namespace ferry::inline FERRY_ABI::detail
