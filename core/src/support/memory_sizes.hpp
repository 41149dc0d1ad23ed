// Sizes of memory.
#pragma once
#include <string>

#include "ferry/core/error.hpp"
#include "ferry/core/memory_size.hpp"

namespace ferry {

// More than any computer has addresses for; and so little that sums of what several threads ask for do not wrap.
inline constexpr std::size_t most_bytes_at_once = std::size_t{1} << 56;

[[noreturn, gnu::cold]] inline void refuse_above_addresses(std::size_t bytes) {
  throw out_of_memory(
      "out of memory: an allocation of " + std::to_string(bytes) + " bytes, more than any computer has addresses for",
      bytes);
}

// One for none. Throws out_of_memory for more than there can be.
inline std::size_t checked_size(std::size_t bytes) {
  if (bytes > most_bytes_at_once) refuse_above_addresses(bytes);
  return bytes > 0 ? bytes : 1;
}

// To a multiple of a power of two. Throws out_of_memory for more than there can be.
inline std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  if (bytes > most_bytes_at_once) [[unlikely]]
    refuse_above_addresses(bytes);
  return (bytes + to - 1) & ~(to - 1);
}

// What no array has and no pool, in words; empty for nothing.
inline std::string kept_text(std::size_t by_workspaces, std::size_t in_quarantine) {
  std::string s = by_workspaces > 0 ? bytes_text(by_workspaces) + " kept by workspaces" : "";
  if (in_quarantine > 0) s += (s.empty() ? "" : ", ") + bytes_text(in_quarantine) + " in quarantine (memory checks)";
  return s;
}

}  // namespace ferry
