/// @file
/// Handles of the backend's streams, events and graphs, for code that calls the driver or other libraries.
#pragma once

namespace ferry {

/// Handles of backend objects (cudaStream_t, cudaEvent_t, cudaGraphExec_t, or the simulator's).
struct native_stream {
  void* handle = nullptr;
  bool operator==(const native_stream&) const = default;
};
struct native_event {
  void* handle = nullptr;
};
struct native_graph {
  void* handle = nullptr;
};

}  // namespace ferry
