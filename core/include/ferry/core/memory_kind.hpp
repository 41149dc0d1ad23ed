/// @file
/// Kinds of memory, places of unified memory, and hints about it.
#pragma once
#include <cstdint>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// Kind of memory. device: memory of one GPU. unified: managed memory, accessible from the CPU and every device. host:
/// pinned host memory, accessible from every device.
enum class memory_kind : std::uint8_t { device, unified, host };
/// Name of a kind, for messages.
const char* kind_name(memory_kind k);
/// True if the CPU can access memory of this kind.
inline constexpr bool is_host_accessible(memory_kind k) { return k != memory_kind::device; }

namespace detail {
inline constexpr memory_kind all_memory_kinds[] = {memory_kind::device, memory_kind::unified, memory_kind::host};
}

/// Destination of prefetches and advice for unified memory.
struct memory_location {
  int device = -1;     ///< -1: the CPU
  int numa_node = -1;  ///< of the CPU's memory; -1: any
  /// True if the place is memory of the CPU.
  bool is_host() const { return device < 0; }
  bool operator==(const memory_location&) const = default;
};

/// Hints for unified memory, as in cudaMemAdvise, each with its inverse.
enum class memory_advice : std::uint8_t {
  read_mostly,
  unset_read_mostly,
  preferred_location,
  unset_preferred_location,
  accessed_by,
  unset_accessed_by
};

/// @}

}  // namespace ferry::inline FERRY_ABI
