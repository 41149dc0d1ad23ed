// Which allocations are still there, since when, whose they are and where they were made.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

enum class leak_mode : std::uint8_t {
  off,
  report,  // what is left, with tag, name and age
  stacks   // and the stacks of the calls that made it; some 10 us an allocation
};
// "report" or "stacks", as in FERRY_LEAKS. Throws parse_error.
leak_mode parse_leak_mode(std::string_view text);

// Begins to note the current machine's allocations, or stops. FERRY_LEAKS does so from the beginning, and prints
// leak_report() to stderr when the program exits, if anything is left then. Off, it costs nothing.
void track_leaks(leak_mode mode);

// An allocation that was noted and is still there.
struct outstanding_allocation {
  std::size_t bytes = 0;
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::string tag, name;
  double age_seconds = 0;
  std::string last_stream;         // the last user, as "stream 3 of device 0"; empty for none
  std::vector<const void*> stack;  // return addresses, innermost first
};
// The oldest first.
std::vector<outstanding_allocation> outstanding_allocations();

// In words, those of one stack (without stacks: of one tag, name, kind and device) together, most bytes first. Empty if
// nothing is left. Stacks are read by addr2line where it is installed; compile with -g, link with -rdynamic for names.
std::string leak_report();

}  // namespace ferry
