// Sizes of memory.
#pragma once
#include <unistd.h>

#include <string>

#include "ferry/core/detail/backend/backend.hpp"
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

// What memory of this kind is a share of: the device's, or for pinned memory the computer's.
inline std::size_t memory_behind(const backend& verbs, memory_kind kind, int device) {
  if (kind != memory_kind::host) return verbs.properties(device).memory_bytes;
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
}

}  // namespace ferry
