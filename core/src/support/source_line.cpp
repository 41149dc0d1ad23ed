#include "ferry/core/source_line.hpp"

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

std::string source_line::text() const {
  if (!is_known()) return {};
  std::string_view name = file;
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return concat(name, ":", line);
}

namespace detail {

std::string quoted_name(std::string_view name, std::string_view what) {
  if (name.empty()) return concat("an unnamed ", what);
  return concat(what, " '", name, "'");
}

std::string in_line(source_line at) { return at.is_known() ? " in " + at.text() : std::string(); }

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
