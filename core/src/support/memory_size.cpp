#include "ferry/core/memory_size.hpp"

#include <cmath>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/detail/support/size_text.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

[[noreturn]] void refuse_size(std::string_view text, std::string_view why) {
  throw parse_error(concat("'", text, "' is no amount of memory: ", why,
                           ". Allowed are bytes (8589934592 or 512B), 64KiB, 512MiB, 1.5GiB, 2TiB, and 60% of a "
                           "device, from above 0 to 100%"));
}

// Parses digits with at most one point.
double number(std::string_view text, std::string_view whole) {
  std::size_t digits = 0, points = 0;
  for (const char c : text) {
    digits += c >= '0' && c <= '9';
    points += c == '.';
  }
  if (digits == 0 || points > 1 || digits + points != text.size()) refuse_size(whole, why_no_size(whole));
  return plain_number(text);
}

}  // namespace

memory_size::memory_size(std::string_view text) : unit_(unit::bytes) {
  if (text.ends_with('%')) {
    unit_ = unit::percent;
    percent_ = number(text.substr(0, text.size() - 1), text);
    if (!(percent_ > 0 && percent_ <= 100)) refuse_size(text, "the percentage is outside of its range");
    return;
  }
  const size_parts parts = split_size(text);
  const double bytes = std::ldexp(number(parts.number, text), parts.shift);
  if (bytes >= 0x1p63) refuse_size(text, "that is more than there can be");
  if (bytes != std::floor(bytes)) refuse_size(text, "that is no whole number of bytes");
  bytes_ = static_cast<std::size_t>(bytes);
}

std::size_t memory_size::bytes_of(std::size_t whole) const {
  if (unit_ != unit::percent) return bytes_;
  return static_cast<std::size_t>(static_cast<double>(whole) * percent_ / 100);
}

std::string memory_size::text() const {
  if (unit_ == unit::none) return "none";
  if (unit_ == unit::bytes) return bytes_text(bytes_);
  return short_text(percent_) + '%';
}

std::string bytes_text(std::size_t bytes) {
  for (const auto& [suffix, shift] : size_units)
    if (shift > 0 && bytes >> shift != 0)
      return concat(fixed_text(std::ldexp(static_cast<double>(bytes), -shift), 3), ' ', suffix);
  return concat(bytes, bytes == 1 ? " byte" : " bytes");
}

}  // namespace ferry::inline FERRY_ABI
