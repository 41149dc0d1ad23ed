#include "ferry/core/memory_limits.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

[[noreturn]] void refuse(std::string_view part, const std::string& why) {
  throw parse_error(
      concat("'", part, "' is no memory limit: ", why,
             ". Allowed are soft:AMOUNT, hard:AMOUNT, or both by a comma, as in soft:60%,hard:8GiB; in "
             "FERRY_MEMORY_LIMIT also several such parts, separated by ';', with device=NUMBER, "
             "kind=device|unified|host and tag=NAME, as in soft:60%;device=1,hard:8GiB;kind=host,hard:4GiB"));
}

void parse_scope(std::string_view part, std::string_view key, std::string_view value, memory_scope& scope) {
  const std::string quoted = concat("'", key, "=", value, "'");
  const auto once = [&](bool is_new) {
    if (!is_new) refuse(part, concat("'", key, "' is given twice"));
  };
  if (key == "device") {
    once(!scope.on);
    const std::optional<int> number = parse_number<int>(value);
    if (!number || *number < 0) refuse(part, quoted + " has no number of a device");
    scope.on = device(*number);
  } else if (key == "kind") {
    once(!scope.kind);
    for (const memory_kind k : {memory_kind::device, memory_kind::unified, memory_kind::host})
      if (value == kind_name(k)) scope.kind = k;
    if (!scope.kind) refuse(part, quoted + " names no kind of memory");
  } else if (key == "tag") {
    once(scope.tag.empty());
    if (value.empty()) refuse(part, quoted + " names no tag");
    scope.tag = value;
  } else {
    refuse(part, quoted + " is neither device=, kind= nor tag=");
  }
}

// Parses amounts and their scope, in any order.
scoped_memory_limit parse_part(std::string_view part) {
  scoped_memory_limit l;
  for (const std::string_view item : split_text(part, ',')) {
    memory_size* const to = item.starts_with("soft:")   ? &l.limit.soft
                            : item.starts_with("hard:") ? &l.limit.hard
                                                        : nullptr;
    if (to) {
      if (to->is_set()) refuse(part, concat("'", item.substr(0, 4), "' is given twice"));
      try {
        *to = memory_size(item.substr(5));
      } catch (const parse_error& e) {
        refuse(part, plain_what(e));
      }
    } else if (const auto pair = cut_text(item, '=')) {
      parse_scope(part, pair->first, pair->second, l.scope);
    } else {
      refuse(part, concat("'", item, "' is neither soft: nor hard:"));
    }
  }
  if (!l.limit.soft.is_set() && !l.limit.hard.is_set()) refuse(part, "it has neither soft: nor hard:");
  return l;
}

}  // namespace

std::string memory_scope::text() const {
  std::string s = kind ? concat(kind_name(*kind), " memory") : tag.empty() ? "device and unified memory" : "memory";
  if (on) s += concat(" of device ", on->index());
  if (!tag.empty()) s += " under the tag '" + tag + "'";
  return s;
}

memory_limit parse_memory_limit(std::string_view text) {
  scoped_memory_limit part = parse_part(text);
  if (part.scope != memory_scope{}) refuse(text, "a scope has no place here");
  return part.limit;
}

std::vector<scoped_memory_limit> parse_memory_limits(std::string_view text) {
  std::vector<scoped_memory_limit> all;
  for (const std::string_view part : split_text(text, ';')) {
    all.push_back(parse_part(part));
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (all[i].scope == all.back().scope) refuse(part, "another part is about the same memory: join them by a comma");
  }
  return all;
}

}  // namespace ferry::inline FERRY_ABI
