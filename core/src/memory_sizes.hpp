// Sizes of memory.
#pragma once
#include <unistd.h>

#include "ferry/core/backend.hpp"
#include "ferry/core/error.hpp"

namespace ferry {

// To a multiple of a power of two. Throws out_of_memory where that overflows.
inline std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  if (bytes > SIZE_MAX - to) [[unlikely]]
    throw out_of_memory("the size of an allocation overflows", bytes);
  return (bytes + to - 1) & ~(to - 1);
}

// What memory of this kind is a share of: the device's, or for pinned memory the computer's.
inline std::size_t memory_behind(const backend& verbs, memory_kind kind, int device) {
  if (kind != memory_kind::host) return verbs.properties(device).memory_bytes;
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
}

}  // namespace ferry
