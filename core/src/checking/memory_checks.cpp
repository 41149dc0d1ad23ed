#include "ferry/core/memory_checks.hpp"

#include <algorithm>
#include <vector>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/detail/support/size_text.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

[[noreturn]] void refuse(std::string_view whole, std::string_view part, std::string_view why) {
  throw parse_error(concat("FERRY_POISON \"", whole, "\": \"", part, "\" ", why,
                           ". Allowed: on; off; or, separated by ';': poison=on|off, zone=BYTES (a multiple of 256), "
                           "quarantine=BYTES (plain or with KiB, MiB, GiB), blocks=N"));
}

std::size_t number(std::string_view whole, std::string_view part, std::string_view text) {
  constexpr size_range units{10, 30};  // KiB to GiB
  const std::optional<std::size_t> size = whole_size(text, units);
  if (!size) refuse(whole, part, "is no size: " + why_no_size(text, units));
  return *size;
}

}  // namespace

std::optional<memory_checks> parse_memory_checks(std::string_view text) {
  memory_checks how;
  if (text == "on") return how;
  if (text == "off") return std::nullopt;
  if (text.empty()) refuse(text, text, "says nothing");
  std::vector<std::string_view> known;
  const std::string_view without_last_separator = text.substr(0, text.size() - (text.ends_with(';') ? 1 : 0));
  for (const std::string_view part : split_text(without_last_separator, ';')) {
    const auto pair = cut_text(part, '=');
    if (!pair) refuse(text, part, "is neither on nor off, and no key=value");
    const auto [key, value] = *pair;
    if (std::find(known.begin(), known.end(), key) != known.end()) refuse(text, part, "sets a key for the second time");
    known.push_back(key);
    if (key == "poison") {
      if (value != "on" && value != "off") refuse(text, part, "is neither on nor off");
      how.poison = value == "on";
    } else if (key == "zone") {
      how.red_zone = number(text, part, value);
      if (how.red_zone % 256 != 0) refuse(text, part, "is no multiple of 256");
    } else if (key == "quarantine") {
      how.quarantine_bytes = number(text, part, value);
    } else if (key == "blocks") {
      how.quarantine_blocks = number(text, part, value);
    } else {
      refuse(text, part, "names nothing that can be set");
    }
  }
  return how;
}

void set_memory_checks(const std::optional<memory_checks>& what) { runtime::current().checker().set(what); }
std::optional<memory_checks> current_memory_checks() { return runtime::current().checker().settings(); }

memory_checks_scope::memory_checks_scope(const std::optional<memory_checks>& what) : before_(current_memory_checks()) {
  set_memory_checks(what);
}
memory_checks_scope::~memory_checks_scope() { set_memory_checks(before_); }

std::string memory_fault::text() const {
  plain_stream out;
  out << "the " << kind_name(kind) << " array ";
  if (!name.empty()) out << "'" << name << "' ";
  out << "of device " << device << " (" << bytes << " bytes at " << static_cast<const void*>(address);
  if (!tag.empty()) out << ", tag " << tag;
  out << ") was written ";
  switch (where) {
    case place::before: out << "before its first byte"; break;
    case place::after: out << "past its end"; break;
    case place::freed: out << "after it was freed"; break;
  }
  out << ": " << changed << (changed == 1 ? " byte is" : " bytes are") << " not as they were, the first at offset "
      << first;
  return out.str();
}

std::vector<memory_fault> check_memory() { return runtime::current().checker().check(); }

}  // namespace ferry::inline FERRY_ABI
