/// @file
/// Time and traffic of a part of a program.
#pragma once
#include <iosfwd>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

/// Result of measure().
struct measurement {
  double device_milliseconds = 0;  ///< between the first and the last work of body on the stream
  double cpu_milliseconds = 0;     ///< until body returned: cost of submissions, and time that it blocked
  std::uint64_t copied_bytes = 0;  ///< bytes of copies enqueued to all streams meanwhile
  std::uint64_t allocations = 0;   ///< arrays allocated meanwhile
};

/// Runs body and measures its work on `s`. Blocks until that stream is complete.
measurement measure(stream_ref s, detail::function_ref<void()> body);

/// Prints a measurement as one line.
std::ostream& operator<<(std::ostream& out, const measurement& m);

/// @}

}  // namespace ferry::inline FERRY_ABI
