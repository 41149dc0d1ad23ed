// Policies as words of a text. Policy files use the same words.
#pragma once
#include <string_view>

#include "ferry/unified/array_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Calls f(word) for each word, in order. Blanks separate words. Words point into the text.
template <class F>
void each_word(std::string_view text, F f) {
  constexpr std::string_view blank = " \t\r";
  for (std::size_t at = text.find_first_not_of(blank); at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(blank, at), text.size());
    f(text.substr(at, end - at));
    at = text.find_first_not_of(blank, end);
  }
}

// Adds a word to a policy. Throws parse_error without a position.
void add_policy_word(array_policy& p, std::string_view word);

}  // namespace ferry::inline FERRY_ABI::detail
