// Call stacks of the CPU by Boost.Stacktrace. Only this folder includes its headers. If they are not installed, there
// are no stacks, and reports say so.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::stack {

// True if this build can capture stacks.
bool is_available();
// Stores the return addresses of the calling thread, innermost first, without the `skip` innermost. Returns their
// number.
std::size_t capture(const void** frames, std::size_t most, std::size_t skip);
// Returns function, file and line, as far as they are available. Slow: starts addr2line if that is installed.
std::string describe(const void* frame);

}  // namespace ferry::inline FERRY_ABI::detail::stack
