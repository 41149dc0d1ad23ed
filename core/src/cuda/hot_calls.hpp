// The two backend calls of each cross-stream dependency, by the driver API: 211 ns for the pair, 272 by the runtime API
// (H200).
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "ferry/version.hpp"
#include "shims.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// The driver's and the runtime's codes have the same values.
static_assert(int{CUDA_ERROR_INVALID_HANDLE} == int{cudaErrorInvalidResourceHandle});
static_assert(int{CUDA_ERROR_ILLEGAL_ADDRESS} == int{cudaErrorIllegalAddress});
static_assert(int{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED} == int{cudaErrorStreamCaptureUnsupported});

// Default streams use the runtime API: their handle names the stream of the current context, and a new thread has none.
inline cudaError_t record_event(cudaEvent_t e, cudaStream_t s) {
  static const auto by_driver = driver_call<CUresult(CUevent, CUstream)>("cuEventRecord");
  return by_driver && !is_default(s) ? static_cast<cudaError_t>(by_driver(e, s)) : cudaEventRecord(e, s);
}

inline cudaError_t wait_for_event(cudaStream_t s, cudaEvent_t e) {
  static const auto by_driver = driver_call<CUresult(CUstream, CUevent, unsigned)>("cuStreamWaitEvent");
  return by_driver && !is_default(s) ? static_cast<cudaError_t>(by_driver(s, e, 0)) : cudaStreamWaitEvent(s, e, 0);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
