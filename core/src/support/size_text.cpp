#include "ferry/core/detail/support/size_text.hpp"

#include <algorithm>
#include <limits>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/text_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool allows(size_range units, const size_unit& u) { return u.shift >= units.smallest && u.shift <= units.largest; }

// "KiB, MiB or GiB".
std::string text_of(size_range units) {
  std::string list;
  for (auto u = size_units.rbegin(); u != size_units.rend(); ++u)
    if (allows(units, *u)) list += concat(list.empty() ? "" : u->shift == units.largest ? " or " : ", ", u->name);
  return list;
}

}  // namespace

size_parts split_size(std::string_view text, size_range units) {
  for (const size_unit& u : size_units)
    if (text.ends_with(u.name) && allows(units, u)) return {text.substr(0, text.size() - u.name.size()), u.shift};
  return {text};
}

std::optional<std::size_t> whole_size(std::string_view text, size_range units) {
  const auto [number, shift] = split_size(text, units);
  const std::optional<std::size_t> value = parse_number<std::size_t>(number);
  if (!value || *value > std::numeric_limits<std::size_t>::max() >> shift) return std::nullopt;
  return *value << shift;
}

std::string why_no_size(std::string_view text, size_range units) {
  const std::size_t last = text.find_last_of("0123456789. ");
  const std::string_view unit = last == text.npos ? std::string_view() : text.substr(last + 1);
  if (unit.empty() || text.find_first_of("0123456789") == text.npos) return "it has no number that can be read";
  const bool is_allowed = std::any_of(size_units.begin(), size_units.end(),
                                      [&](const size_unit& u) { return unit == u.name && allows(units, u); });
  if (is_allowed)
    return text.find(' ') == text.npos ? "it has no number that can be read" : "a space is not allowed in it";
  return concat("'", unit, "' is no unit, which is ", text_of(units));
}

}  // namespace ferry::inline FERRY_ABI::detail
