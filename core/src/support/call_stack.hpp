// Call stacks of the CPU, by Boost.Stacktrace. This folder alone includes its headers; where they are not installed there
// are no stacks, and reports say so.
#pragma once
#include <cstddef>
#include <string>

namespace ferry::stack {

// Whether this build can.
bool is_available();
// The return addresses of the calling thread, innermost first, without the `skip` innermost. Returns how many.
std::size_t capture(const void** frames, std::size_t most, std::size_t skip);
// Function, file and line, as far as they can be found out; slow (starts addr2line where that is installed).
std::string describe(const void* frame);

}  // namespace ferry::stack
