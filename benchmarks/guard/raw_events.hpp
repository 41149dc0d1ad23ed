// The minimal cost of a hand-over: an event recorded on one stream, and waited for on another.
#pragma once
#include <ferry/core.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace benchmarks {

// Uses the driver if there is one, else the backend. Owns its streams.
class raw_hand_over {
 public:
  explicit raw_hand_over(ferry::detail::backend& backend) : backend_(backend) {
    for (int i = 0; i < 2; ++i) streams_[i] = backend.create_stream(0, 0), events_[i] = backend.create_event(0, false);
  }
  ~raw_hand_over() {
    for (int i = 0; i < 2; ++i) backend_.destroy_stream(streams_[i]), backend_.destroy_event(events_[i]);
  }
  raw_hand_over(const raw_hand_over&) = delete;
  raw_hand_over& operator=(const raw_hand_over&) = delete;

  void run() {
    const int from = turn_, to = turn_ ^= 1;
#if defined(__CUDACC__)
    if (!backend_.is_simulated()) {
      const auto event = static_cast<cudaEvent_t>(events_[from].handle);
      cudaEventRecord(event, static_cast<cudaStream_t>(streams_[from].handle));
      cudaStreamWaitEvent(static_cast<cudaStream_t>(streams_[to].handle), event, 0);
      return;
    }
#endif
    backend_.record(events_[from], streams_[from]);
    backend_.wait(streams_[to], events_[from]);
  }
  void drain() { backend_.synchronize(streams_[0]), backend_.synchronize(streams_[1]); }

 private:
  ferry::detail::backend& backend_;
  ferry::native_stream streams_[2];
  ferry::native_event events_[2];
  int turn_ = 0;
};

}  // namespace benchmarks
