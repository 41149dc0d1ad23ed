/// @file
/// Handles of the backend's streams, events and graphs, for code that calls the driver or other libraries.
#pragma once
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup streams
/// @{

/// Handle of a stream: cudaStream_t, or that of a simulated stream.
struct native_stream {
  void* handle = nullptr;
  bool operator==(const native_stream&) const = default;
};
/// Handle of an event: cudaEvent_t, or that of a simulated event.
struct native_event {
  void* handle = nullptr;
};
/// Handle of a graph: cudaGraphExec_t, or that of a simulated graph.
struct native_graph {
  void* handle = nullptr;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
