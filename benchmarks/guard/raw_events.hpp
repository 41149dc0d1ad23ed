// What a hand-over needs at least: an event recorded on one stream, and waited for on another.
#pragma once
#include <ferry/core.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace benchmarks {

// By the driver where there is one, else by the backend. Owns its streams.
class raw_hand_over {
 public:
  explicit raw_hand_over(ferry::backend& verbs) : verbs_(verbs) {
    for (int i = 0; i < 2; ++i) streams_[i] = verbs.create_stream(0, 0), events_[i] = verbs.create_event(0, false);
  }
  ~raw_hand_over() {
    for (int i = 0; i < 2; ++i) verbs_.destroy_stream(streams_[i]), verbs_.destroy_event(events_[i]);
  }
  raw_hand_over(const raw_hand_over&) = delete;
  raw_hand_over& operator=(const raw_hand_over&) = delete;

  void run() {
    const int from = turn_, to = turn_ ^= 1;
#if defined(__CUDACC__)
    if (verbs_.name() == "cuda") {
      const auto event = static_cast<cudaEvent_t>(events_[from].handle);
      cudaEventRecord(event, static_cast<cudaStream_t>(streams_[from].handle));
      cudaStreamWaitEvent(static_cast<cudaStream_t>(streams_[to].handle), event, 0);
      return;
    }
#endif
    verbs_.record(events_[from], streams_[from]);
    verbs_.wait(streams_[to], events_[from]);
  }
  void drain() { verbs_.synchronize(streams_[0]), verbs_.synchronize(streams_[1]); }

 private:
  ferry::backend& verbs_;
  ferry::native_stream streams_[2];
  ferry::native_event events_[2];
  int turn_ = 0;
};

}  // namespace benchmarks
