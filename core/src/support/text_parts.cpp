#include "ferry/core/detail/support/text_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
}

std::optional<std::pair<std::string_view, std::string_view>> cut_text(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace ferry::inline FERRY_ABI::detail
