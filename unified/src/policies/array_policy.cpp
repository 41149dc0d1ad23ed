#include "ferry/unified/array_policy.hpp"

#include <limits>
#include <ostream>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/size_text.hpp"
#include "ferry/core/detail/support/text_parts.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_size.hpp"
#include "policies/policy_words.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

constexpr std::string_view allowed =
    "allowed are automatic, prefetch or explicit, then read_mostly, preferred=PLACE, accessed_by=PLACE,PLACE..., "
    "page=SIZE, piece=SIZE, smallest_to_device=SIZE, smallest_to_cpu=SIZE, flips=N, remote_reads=N, "
    "where a place is cpu, numa:N or device:N, and a size 64KiB or 2MiB";

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
  throw parse_error(concat("'", word, "' ", why, ": ", allowed));
}

int number(std::string_view digits, std::string_view word) {
  const int n = parse_number<int>(digits).value_or(-1);
  if (n < 0) refuse(word, "has no number that can be read");
  return n;
}

memory_location place(std::string_view text, std::string_view word) {
  if (text == "cpu") return {};
  if (text.starts_with("device:")) return {number(text.substr(7), word)};
  if (text.starts_with("numa:")) return {-1, number(text.substr(5), word)};
  refuse(word, "names a place that there is not");
}

std::string place_text(memory_location where) {
  if (!where.is_host()) return concat("device:", where.device);
  return where.numa_node < 0 ? "cpu" : concat("numa:", where.numa_node);
}

// Returns the shortest text that parses to the same size.
std::string size_text(std::size_t bytes) {
  for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}})
    if (bytes > 0 && bytes % (std::size_t{1} << shift) == 0) return concat(bytes >> shift, unit);
  return std::to_string(bytes);
}

std::size_t size(std::string_view text, std::string_view word) {
  try {
    const memory_size s(text);
    if (!s.is_percentage()) return s.bytes_of(0);
  } catch (const parse_error&) {
    refuse(word, "is no amount of memory: " + why_no_size(text));
  }
  refuse(word, "has no amount of memory that can be read");
}

void add_places(array_policy& p, std::string_view list, std::string_view word) {
  for (const std::string_view one : split_text(list, ',')) p.accessed_by.push_back(place(one, word));
}

}  // namespace

void detail::add_policy_word(array_policy& p, std::string_view word) {
  using way = array_policy::way;
  const auto pair = cut_text(word, '=');
  if (!pair) {
    if (word == "automatic") return void(p.moves = way::automatic);
    if (word == "prefetch") return void(p.moves = way::ahead);
    if (word == "explicit") return void(p.moves = way::explicitly);
    if (word == "read_mostly") return void(p.read_mostly = true);
    refuse(word, "is no policy");
  }
  const auto [key, value] = *pair;
  if (key == "preferred") return void(p.preferred = place(value, word));
  if (key == "accessed_by") return add_places(p, value, word);
  if (key == "flips") return void(p.flips = number(value, word));
  if (key == "remote_reads") return void(p.remote_reads = number(value, word));
  if (key == "smallest_to_device") return void(p.smallest_to_device = size(value, word));
  if (key == "smallest_to_cpu") return void(p.smallest_to_cpu = size(value, word));
  if (key != "page" && key != "piece") refuse(word, "is no policy");
  const std::size_t bytes = size(value, word);
  if (bytes == 0) refuse(word, "must be above 0");
  (key == "page" ? p.page : p.piece) = bytes;
}

array_policy array_policy::parse(std::string_view text) {
  array_policy p;
  bool any = false;
  each_word(text, [&](std::string_view word) {
    add_policy_word(p, word);
    any = true;
  });
  if (!any) refuse(text, "has no word");
  return p;
}

std::string array_policy::text() const {
  std::string t = moves == way::automatic ? "automatic" : moves == way::ahead ? "prefetch" : "explicit";
  if (read_mostly) t += " read_mostly";
  if (preferred) t += " preferred=" + place_text(*preferred);
  for (std::size_t i = 0; i < accessed_by.size(); ++i) t += (i ? "," : " accessed_by=") + place_text(accessed_by[i]);
  const auto bytes = [&](const char* key, const std::optional<std::size_t>& v) {
    if (v) t += concat(" ", key, "=", size_text(*v));
  };
  bytes("page", page), bytes("piece", piece);
  bytes("smallest_to_device", smallest_to_device), bytes("smallest_to_cpu", smallest_to_cpu);
  if (flips) t += concat(" flips=", *flips);
  if (remote_reads) t += concat(" remote_reads=", *remote_reads);
  return t;
}

std::ostream& operator<<(std::ostream& out, const array_policy& p) { return out << p.text(); }

migration_options array_policy::over(migration_options o) const {
  if (moves == way::ahead)
    o.smallest_to_device = o.smallest_to_cpu = 0, o.page_neighbours = std::numeric_limits<int>::max();
  o.smallest_to_device = smallest_to_device.value_or(o.smallest_to_device);
  o.smallest_to_cpu = smallest_to_cpu.value_or(o.smallest_to_cpu);
  o.page = page.value_or(o.page);
  o.piece = piece.value_or(o.piece);
  o.flips = flips.value_or(o.flips);
  o.remote_reads = remote_reads.value_or(o.remote_reads);
  return o;
}

}  // namespace ferry::inline FERRY_ABI
