#include "ferry/core/detail/support/member_path.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/text_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string_view short_type(std::string_view spelling) {
  spelling = spelling.substr(0, spelling.find('<'));
  const auto space = spelling.rfind("::");
  return space == spelling.npos ? spelling : spelling.substr(space + 2);
}

// The name at a position of a list of names by commas; the last one for positions behind it.
std::string_view name_at(std::string_view names, std::size_t index) {
  for (; index != 0; --index) {
    const auto pair = cut_text(names, ',');
    if (!pair) break;
    names = pair->second;
  }
  return trimmed(names.substr(0, names.find(',')));
}

}  // namespace

std::string member_path::text() const {
  if (!of_) return std::string(short_type(names_));
  const std::string before = of_->text();
  if (names_.empty()) return concat(before, '[', index_, ']');
  return concat(before, '.', name_at(names_, index_));
}

array_label member_path::label() const {
  std::string all = text();
  for (std::size_t dot = 0; all.size() > array_label::longest && (dot = all.find('.')) != all.npos;)
    all.erase(0, dot + 1);
  return array_label(all.c_str());
}

}  // namespace ferry::inline FERRY_ABI::detail
