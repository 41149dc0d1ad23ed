#include "scratch.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

// A small number in all types: adding to it changes its bytes, unlike NaN or a huge number.
constexpr std::byte guard_byte{0x3A};
// NaN: shows that a kernel did not write all elements of an output.
constexpr std::byte unwritten_byte{0xFF};

// Guard size on each side: that of the range, so that neighbouring rows of small arrays are covered.
std::size_t guard_of(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{4} << 10, most = std::size_t{64} << 10;
  return std::clamp(bytes, least, most) / 256 * 256;
}

// Returns the first byte of a range that differs, or its end.
const std::byte* first_other(const std::byte* begin, const std::byte* end, std::byte expected) {
  const auto n = static_cast<std::size_t>(end - begin);
  if (n == 0 || (*begin == expected && std::memcmp(begin, begin + 1, n - 1) == 0)) return end;
  return std::find_if(begin, end, [&](std::byte b) { return b != expected; });
}

std::string bytes_in_words(std::size_t n) { return concat(n, n == 1 ? " byte" : " bytes"); }

std::string given_text(const kernel_use& u, std::size_t bytes) {
  std::string text = *u.array.text() ? concat("array '", u.array.text(), "'") : "an unnamed array";
  text += ", of which it was given " + bytes_in_words(bytes);
  if (u.at.is_known()) text += " at " + u.at.text();
  return text;
}

}  // namespace

std::vector<used_range> used_ranges(std::vector<kernel_use>& uses) {
  std::erase_if(uses, [](const kernel_use& u) { return u.bytes == 0; });
  std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return std::less<>{}(a.begin, b.begin); });
  std::vector<used_range> ranges;
  for (const kernel_use& u : uses) {
    if (ranges.empty() || u.begin >= ranges.back().end()) {
      ranges.push_back({u.begin, u.bytes, u, u});
      continue;
    }
    used_range& r = ranges.back();
    const auto name = [&](kernel_use& known) {  // parts of a shard have no label of their own
      if (!*known.array.text()) known.array = u.array;
      if (!known.at.is_known()) known.at = u.at;
    };
    name(r.first), name(r.last);
    if (u.begin + u.bytes > r.end()) {
      r.bytes = static_cast<std::size_t>(u.begin - r.begin) + u.bytes;
      r.last = u;
    }
  }
  return ranges;
}

std::string overrun_text(const kernel_use& of, std::size_t bytes, std::ptrdiff_t distance) {
  const std::string how_far = distance == 0 ? "directly" : bytes_in_words(static_cast<std::size_t>(std::abs(distance)));
  return "wrote outside its arguments: the first changed byte lies " + how_far +
         (distance < 0 ? " before the beginning of " : " past the end of ") + given_text(of, bytes);
}

scratch::scratch(const std::vector<kernel_use>& uses) : uses_(uses), ranges_(used_ranges(uses_)) {
  for (const used_range& r : ranges_) pieces_.push_back({r.begin, r.bytes, nullptr});
}

void scratch::load() {
  for (auto& p : pieces_) {
    const std::size_t guard = guard_of(p.bytes);
    // vectorized loads need the same alignment
    const std::size_t shift = reinterpret_cast<std::uintptr_t>(p.begin) % alignment;
    buffer b{{}, guard + shift + p.bytes + guard};
    b.begin.reset(static_cast<std::byte*>(::operator new (b.bytes, std::align_val_t{alignment})));
    p.now = b.begin.get() + guard + shift;
    std::memset(b.begin.get(), static_cast<int>(guard_byte), guard + shift);
    std::memset(p.now, static_cast<int>(unwritten_byte), p.bytes);
    std::memset(p.now + p.bytes, static_cast<int>(guard_byte), guard);
    buffers_.push_back(std::move(b));
  }
  const relocation where = relocated();
  for (const kernel_use& u : uses_)
    if (u.reads) std::memcpy(const_cast<std::byte*>(where(u.begin)), u.begin, u.bytes);
}

std::string scratch::overrun() const {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const relocation::piece& p = pieces_[i];
    const std::byte *const begin = buffers_[i].begin.get(), *const end = begin + buffers_[i].bytes;
    if (const std::byte* const at = first_other(p.now + p.bytes, end, guard_byte); at != end)
      return overrun_text(ranges_[i].last, p.bytes, at - (p.now + p.bytes));
    if (const std::byte* const at = first_other(begin, p.now, guard_byte); at != p.now)
      return overrun_text(ranges_[i].first, p.bytes, at - p.now);
    if (std::string text = gap_overrun(i); !text.empty()) return text;
  }
  return {};
}

// Checks bytes of a range that no use reads or writes, for example between the slabs that a loop over a shard uses.
std::string scratch::gap_overrun(std::size_t i) const {
  const used_range& r = ranges_[i];
  const auto look = [&](const std::byte* begin, const std::byte* end) -> std::string {
    if (begin >= end) return {};
    const std::byte* const now = pieces_[i].now;
    const std::byte* const at = first_other(now + (begin - r.begin), now + (end - r.begin), unwritten_byte);
    if (at == now + (end - r.begin)) return {};
    return concat("wrote between its arguments: the first changed byte is byte ", at - now, " of ",
                  given_text(r.first, r.bytes), ", in a part that it may neither read nor write");
  };
  const std::byte* covered = r.begin;
  for (const kernel_use& u : uses_) {
    if (u.begin < r.begin || u.begin >= r.end() || !(u.reads || u.writes)) continue;
    if (std::string text = look(covered, u.begin); !text.empty()) return text;
    covered = std::max(covered, u.begin + u.bytes, std::less<>{});
  }
  return look(covered, r.end());
}

void scratch::store() {
  const relocation where = relocated();
  for (const kernel_use& u : uses_)
    if (u.writes) std::memcpy(const_cast<std::byte*>(u.begin), where(u.begin), u.bytes);
  buffers_.clear();
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
