/// @file
/// Outstanding allocations: their age, owner and place of allocation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// What leak tracking records.
enum class leak_mode : std::uint8_t {
  off,
  report,  ///< outstanding allocations with tag, name and age
  stacks   ///< also call stacks of the allocations; about 10 us for each allocation
};
/// Parses "report" or "stacks", as in FERRY_LEAKS.
/// @throws parse_error for other texts
leak_mode parse_leak_mode(std::string_view text);

/// Starts or stops recording the allocations of the current runtime. FERRY_LEAKS starts with the first allocation, and
/// prints leak_report() to stderr at exit if allocations remain. When it is off, it costs nothing.
void track_leaks(leak_mode mode);

/// A recorded allocation that is not freed.
struct outstanding_allocation {
  std::size_t bytes = 0;
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::string tag, name;
  double age_seconds = 0;
  std::string last_stream;         ///< last stream that used it, as "stream 3 of device 0"; empty for none
  std::vector<const void*> stack;  ///< return addresses, innermost first
};
/// Recorded allocations that are not freed, oldest first.
std::vector<outstanding_allocation> outstanding_allocations();

/// Text report of outstanding allocations, most bytes first; empty if there are none. Allocations with the same stack
/// form one entry; without stacks, those with the same tag, name, kind and device.
/// @note addr2line resolves the stacks where it is installed. Compile with -g and link with -rdynamic for names.
std::string leak_report();

/// @}

}  // namespace ferry::inline FERRY_ABI
