// Parts of texts such as "key=value;key=value", and numbers in them. Parts point into the text.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the parts between the separators, in order. Parts may be empty; a text without separators is one part.
std::vector<std::string_view> split_text(std::string_view text, char separator);
// Returns the text without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);
// Returns what is before and after the first separator; nullopt if there is none.
std::optional<std::pair<std::string_view, std::string_view>> cut_text(std::string_view text, char separator);

// Returns the number in the text, in any locale; nullopt if the text is not one number, or the type cannot represent
// it.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  return wrong == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace ferry::inline FERRY_ABI::detail
