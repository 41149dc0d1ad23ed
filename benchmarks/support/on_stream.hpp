// Device time, measured by events of a stream.
#pragma once
#include <ferry/core.hpp>

#include "rounds.hpp"

namespace benchmarks {

// body enqueues work on s.
template <class F>
timed on_stream(ferry::stream_ref s, F body) {
  return [=](std::size_t n) mutable {
    const ferry::event begin(s);
    for (std::size_t i = 0; i < n; ++i) body();
    return 1e-3 * milliseconds_between(begin, ferry::event(s));
  };
}

// The same with the work queued behind `gate`, which occupies the device meanwhile: the device time for work that is
// already enqueued. At most `most` repetitions at a time, so that the queue never fills up.
template <class Gate, class F>
timed on_stream_queued(ferry::stream_ref s, std::size_t most, Gate gate, F body) {
  return [=, inner = on_stream(s, body)](std::size_t n) mutable {
    double seconds = 0;
    for (std::size_t done = 0; done < n; done += most) {
      gate();
      seconds += inner(std::min(most, n - done));
    }
    return seconds;
  };
}

// True if there is a GPU; prints a note if there is none.
inline bool has_gpu() {
  if (!ferry::runtime::current().is_simulated()) return true;
  std::puts("no GPU: the results of the kernels were checked on the simulator, and nothing was timed");
  return false;
}

// The stream for kernels launched outside of ferry. After stream_ref::native(), ferry would check for a capture on each
// of its own submissions.
inline void* raw_handle(ferry::stream_ref s) { return s.timeline().stream().handle; }

}  // namespace benchmarks
