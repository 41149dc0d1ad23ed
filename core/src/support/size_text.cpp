#include "ferry/core/detail/support/size_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ferry::detail {
namespace {

// True if a list such as "KiB, MiB or GiB" contains the unit as a word.
bool allows(std::string_view units, std::string_view unit) {
  const auto ends_word = [&](std::size_t at) { return at >= units.size() || units[at] == ' ' || units[at] == ','; };
  for (std::size_t at = units.find(unit); at != units.npos; at = units.find(unit, at + 1))
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + unit.size())) return true;
  return false;
}

}  // namespace

size_parts split_size(std::string_view text, std::string_view units) {
  for (const auto& [name, shift] : size_units)
    if (text.ends_with(name) && allows(units, name)) return {text.substr(0, text.size() - name.size()), shift};
  return {text};
}

std::optional<std::size_t> whole_size(std::string_view text, std::string_view units) {
  const auto [number, shift] = split_size(text, units);
  std::size_t value = 0;
  const char* const last = number.data() + number.size();
  const auto [end, wrong] = std::from_chars(number.data(), last, value);
  if (wrong != std::errc{} || end != last || value > std::numeric_limits<std::size_t>::max() >> shift)
    return std::nullopt;
  return value << shift;
}

std::string why_no_size(std::string_view text, std::string_view units) {
  const std::size_t last = text.find_last_of("0123456789. ");
  const std::string_view unit = last == text.npos ? std::string_view() : text.substr(last + 1);
  if (unit.empty() || text.find_first_of("0123456789") == text.npos) return "it has no number that can be read";
  const bool known = std::any_of(size_units.begin(), size_units.end(), [&](const auto& u) { return unit == u.name; });
  if (known && allows(units, unit))
    return text.find(' ') == text.npos ? "it has no number that can be read" : "a space is not allowed in it";
  return "'" + std::string(unit) + "' is no unit, which is " + std::string(units);
}

}  // namespace ferry::detail
