/// @file
/// Work that is recorded once and launched many times.
#pragma once
#include <cstdint>
#include <functional>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup streams
/// @{

/// Recorded work. It owns the arrays that the work touches: they stay alive. Memory of arrays that were made and
/// destroyed during the capture belongs to the graph. The destructor blocks until its last launch is complete.
class graph {
 public:
  /// No work, until a capture is assigned.
  graph() noexcept;
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;
  ~graph();
  /// Launches the work as one submission, ordered after the hazards of each array, with separate reads and writes.
  /// Never blocks.
  /// @throws use_after_free if an array was freed
  /// @throws invalid_argument if there is no work
  void launch(stream_ref s, source_line at = source_line::here());
  /// True if a capture was assigned, and not moved away.
  explicit operator bool() const { return static_cast<bool>(state_); }

 private:
  struct state;
  explicit graph(detail::owning_ptr<state> s);
  detail::owning_ptr<state> state_;
  friend graph capture(stream_ref s, detail::function_ref<void()> body);
};

/// Called after each launch of a graph, on the launching thread, with the stream of the launch. A graph that is
/// launched inside a capture becomes part of the outer graph, and the launches of that graph count. Exceptions of the
/// listener are printed to stderr and not propagated.
using launch_listener = std::function<void(stream_ref s)>;
/// Registers a listener for the graph of the current capture, for the life of that graph. For code that monitors the
/// work of libraries.
void when_launched(launch_listener f);

namespace detail {
// Identifies the current capture of this thread; 0 outside of captures. Each capture has a unique value.
std::uint64_t current_capture();
// Inside a capture: each launch of the resulting graph calls f. A launch inside another capture also calls f at once,
// with that capture as current; this differs from a launch_listener. f must not throw.
void at_each_launch(std::function<void()> f);
}  // namespace detail

/// Runs body and records what this thread submits, on any stream, instead of running it. Array contents do not change
/// before a launch. Raw pointers and access from the CPU throw during the capture. May block (instantiation).
/// @param s stream of the capture
/// @param body submits the work
graph capture(stream_ref s, detail::function_ref<void()> body);

/// @}

}  // namespace ferry::inline FERRY_ABI
