// Time of a device, by events of a stream.
#pragma once
#include <ferry/core.hpp>

#include "rounds.hpp"

namespace benchmarks {

// body gives work to s.
template <class F>
timed on_stream(ferry::stream_ref s, F body) {
  return [=](std::size_t n) mutable {
    const ferry::event begin(s);
    for (std::size_t i = 0; i < n; ++i) body();
    return 1e-3 * milliseconds_between(begin, ferry::event(s));
  };
}

// The same with the work queued behind `gate`, which keeps the device busy meanwhile: what the device needs for work that
// is there already. At most `most` at a time, so that the queue does not run full.
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

// Whether there is a GPU to be timed; says so where there is none.
inline bool has_gpu() {
  if (!ferry::runtime::current().is_simulated()) return true;
  std::puts("no GPU: the results of the kernels were checked on the simulator, and nothing was timed");
  return false;
}

// The stream for kernels that are launched beside ferry's. (stream_ref::native() would make ferry ask, at each of its own
// submissions, whether somebody began a capture.)
inline void* raw_handle(ferry::stream_ref s) { return s.timeline().stream().handle; }

}  // namespace benchmarks
