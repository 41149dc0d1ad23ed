// Helpers for memory sizes.
#pragma once
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_size.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Exceeds all address spaces, but is small enough that sums of several threads' requests do not overflow.
inline constexpr std::size_t most_bytes_at_once = std::size_t{1} << 56;

[[noreturn, gnu::cold]] inline void refuse_above_addresses(std::size_t bytes) {
  throw out_of_memory(
      concat("out of memory: an allocation of ", bytes, " bytes, more than any computer has addresses for"), bytes);
}

// Returns 1 for 0 bytes. Throws out_of_memory above most_bytes_at_once.
inline std::size_t checked_size(std::size_t bytes) {
  if (bytes > most_bytes_at_once) refuse_above_addresses(bytes);
  return bytes > 0 ? bytes : 1;
}

// Rounds up to a multiple of a power of two. Throws out_of_memory above most_bytes_at_once.
inline std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  if (bytes > most_bytes_at_once) [[unlikely]]
    refuse_above_addresses(bytes);
  return (bytes + to - 1) & ~(to - 1);
}

// Describes the bytes retained by workspaces and in quarantine; empty if there are none.
inline std::string retained_text(std::size_t by_workspaces, std::size_t in_quarantine) {
  std::string s = by_workspaces > 0 ? bytes_text(by_workspaces) + " kept by workspaces" : "";
  if (in_quarantine > 0) s += (s.empty() ? "" : ", ") + bytes_text(in_quarantine) + " in quarantine (memory checks)";
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
