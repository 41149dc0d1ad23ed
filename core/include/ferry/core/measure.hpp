// Time and traffic of a piece of a program.
#pragma once
#include <functional>
#include <iosfwd>

#include "ferry/core/stream.hpp"

namespace ferry {

struct measurement {
  double device_milliseconds = 0;  // between the first and the last work given to the stream
  double cpu_milliseconds = 0;     // until body returned: what submitting cost, and what it waited for
  std::uint64_t copied_bytes = 0;  // given to copies on all streams meanwhile
  std::uint64_t allocations = 0;   // arrays made meanwhile
};

// Runs body, whose work goes to `s`, and blocks until that stream has done it.
measurement measure(stream_ref s, const std::function<void()>& body);

std::ostream& operator<<(std::ostream& out, const measurement& m);

}  // namespace ferry
