#include "replay.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ferry/core/error.hpp>
#include <ferry/core/runtime.hpp>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"

namespace fr = ferry;

namespace tools {
namespace {

constexpr std::array<std::string_view, 6> columns{"Thread", "Time", "Action", "Pointer", "Size", "Stream"};
constexpr std::string_view header = "Thread,Time,Action,Pointer,Size,Stream";

class log_parser {
 public:
  std::vector<logged_allocation> run(std::string_view text) {
    std::vector<logged_allocation> all;
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      std::string_view row = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (line_ == 1) {
        if (row != header) refuse(0, row, "is not the header");
      } else if (!row.empty()) {
        read(row, all);
      }
    }
    if (line_ == 0) refuse(0, "", "is an empty file");
    return all;
  }

 private:
  [[noreturn]] void refuse(std::size_t column, std::string_view what, std::string_view why) const {
    throw fr::parse_error(
        "log of allocations, line " + std::to_string(std::max<std::size_t>(line_, 1)) +
        (column ? ", column " + std::to_string(column) + " (" + std::string(columns[column - 1]) + ")" : "") + ": '" +
        std::string(what) + "' " + std::string(why) + ". The header is " + std::string(header) +
        "; rows are a number, a time, allocate, free or allocate failure, an address in hexadecimal, bytes, and a "
        "stream in hexadecimal");
  }

  void read(std::string_view row, std::vector<logged_allocation>& all) const {
    std::array<std::string_view, 6> fields;
    std::size_t n = 0;
    for (std::string_view rest = row;; ++n) {
      const std::size_t comma = rest.find(',');
      if (n < fields.size()) fields[n] = rest.substr(0, comma);
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    ++n;
    if (n < fields.size()) refuse(n + 1, row, "lacks this column");
    if (n > fields.size()) refuse(0, row, "has more than six columns");
    logged_allocation a;
    a.thread = number(1, fields[0], 10);
    if (fields[1].empty()) refuse(2, fields[1], "is no time");
    a.is_free = fields[2] == "free";
    const bool failed = fields[2] == "allocate failure";
    if (!a.is_free && !failed && fields[2] != "allocate") refuse(3, fields[2], "is no action");
    a.pointer = number(4, fields[3], 16);
    a.bytes = static_cast<std::size_t>(number(5, fields[4], 10));
    a.stream = number(6, fields[5], 16);
    if (!failed) all.push_back(a);
  }

  std::uint64_t number(std::size_t column, std::string_view text, int base) const {
    std::string_view digits = text;
    if (base == 16 && digits.starts_with("0x")) digits.remove_prefix(2);
    if (base == 16 && text == "(nil)") return 0;
    std::uint64_t value = 0;
    const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (bad != std::errc{} || end != digits.data() + digits.size()) refuse(column, text, "is no number that fits here");
    return value;
  }

  std::size_t line_ = 0;
};

}  // namespace

std::vector<logged_allocation> parse_allocation_log(std::string_view text) { return log_parser().run(text); }

std::vector<logged_allocation> load_allocation_log(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw fr::error("cannot read the log of allocations '" + file + "': " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return parse_allocation_log(text);
  } catch (const fr::parse_error& e) {
    throw fr::parse_error(file + ": " + e.text());
  }
}

replay_result replay(const std::vector<logged_allocation>& log, fr::pool& pool, fr::memory_kind kind) {
  using clock = std::chrono::steady_clock;
  replay_result r;
  using block_ref = decltype(pool.allocate(0));
  std::unordered_map<std::uint64_t, block_ref> alive;
  std::unordered_map<std::uint64_t, bool> failed;
  alive.reserve(log.size());
  // Of all pools of this kind and device: the numbers of one pool would cost a lock an allocation.
  const auto reserved_bytes = [&accounting = fr::runtime::current().memory(), kind, device = pool.where().index()] {
    return accounting.pools().reserved_bytes(kind, device);
  };
  const std::size_t of_pool = pool.of(kind).statistics().reserved_bytes, of_all = reserved_bytes();
  std::size_t bytes = 0;
  const auto begin = clock::now();
  for (const logged_allocation& a : log) {
    if (!a.is_free) {
      block_ref block;
      try {
        block = pool.allocate(a.bytes, kind);
      } catch (const fr::out_of_memory&) {
        ++r.failures;
        failed[a.pointer] = true;
        continue;
      }
      ++r.allocations;
      block_ref& place = alive[a.pointer];
      if (place) bytes -= place.get().bytes, ++r.unmatched;  // the log lacks its free
      bytes += block.get().bytes;
      place = std::move(block);
      r.peak_bytes = std::max(r.peak_bytes, bytes);
      const std::size_t now = reserved_bytes();
      r.peak_reserved_bytes = std::max(r.peak_reserved_bytes, of_pool + now - std::min(now, of_all));
    } else if (const auto at = alive.find(a.pointer); at != alive.end() && at->second) {
      bytes -= at->second.get().bytes;
      at->second = {};
      ++r.frees;
    } else if (failed.erase(a.pointer) == 0) {
      ++r.unmatched;
    }
  }
  r.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  for (const auto& [pointer, block] : alive) r.left += static_cast<bool>(block);
  r.left_bytes = bytes;
  return r;
}

}  // namespace tools
