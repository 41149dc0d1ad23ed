// Work that is recorded once and launched many times.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "ferry/core/detail/support/source_line.hpp"
#include "ferry/core/stream.hpp"

namespace ferry {

// Owns what its work touches: the arrays stay alive, and those made and destroyed inside belong to it. Destroying a
// graph waits for its last launch.
class graph {
 public:
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;
  ~graph();
  // One submission: ordered behind what the captured work requires of each array, reads and writes apart. Never blocks.
  // Throws use_after_free when an array was freed.
  void launch(stream_ref s, source_line at = source_line::here());

 private:
  struct state;
  explicit graph(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
  friend graph capture(stream_ref s, const std::function<void()>& body);
};

// Called after each launch of a graph, by the thread that launches, with the stream that the graph was given to. Launched
// inside a capture, a graph becomes part of the outer one, whose launches count. What it throws goes to stderr, and no further.
using launch_listener = std::function<void(stream_ref s)>;
// Inside a capture: for the graph that it becomes, as long as that lives. For what looks after the work of libraries.
void when_launched(launch_listener f);

namespace detail {
// Identifies the capture that this thread is inside of; 0 outside of captures. No two captures have the same one.
std::uint64_t current_capture();
// Inside a capture: f is called by each launch of the graph that it becomes. Unlike a launch_listener, a launch inside
// another capture calls it at once too, with that one as the current capture. f must not throw.
void at_each_launch(std::function<void()> f);
}  // namespace detail

// Runs body, recording instead of running what this thread submits, on any stream. Raw pointers, and access from the CPU,
// are errors meanwhile. May block (instantiation). What the arrays hold is unchanged until a launch.
graph capture(stream_ref s, const std::function<void()>& body);

}  // namespace ferry
