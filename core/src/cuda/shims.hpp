// Differences of the runtime API between CUDA 12 and 13. No other code may test CUDART_VERSION.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ferry/core/detail/backend/backend.hpp>
#include <ferry/core/error.hpp>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/version.hpp"

static_assert(CUDART_VERSION >= 12000, "ferry needs CUDA 12.0 or later (cudaStreamGetId)");

namespace ferry::inline FERRY_ABI::detail::cuda {

// Returns a driver function by its name, without linking libcuda; null if it does not exist.
template <class Function>
Function* driver_call(const char* name) {
  void* found = nullptr;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault);
#else
  cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
  return reinterpret_cast<Function*>(found);
}

// True for the legacy or the per-thread default stream, under any of their names.
inline bool is_default(cudaStream_t s) { return reinterpret_cast<std::uintptr_t>(s) <= 2; }

inline cudaError_t stream_device(cudaStream_t s, int& device) {
#if CUDART_VERSION >= 12080
  return cudaStreamGetDevice(s, &device);
#else
  static const auto get_context = driver_call<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx");
  static const auto push = driver_call<CUresult(CUcontext)>("cuCtxPushCurrent");
  static const auto get_device = driver_call<CUresult(CUdevice*)>("cuCtxGetDevice");
  static const auto pop = driver_call<CUresult(CUcontext*)>("cuCtxPopCurrent");
  if (!get_context || !push || !get_device || !pop) return cudaErrorNotSupported;
  CUcontext context = nullptr;
  if (get_context(s, &context) != CUDA_SUCCESS) return cudaErrorInvalidResourceHandle;
  if (push(context) != CUDA_SUCCESS) return cudaErrorInvalidResourceHandle;
  CUdevice found = -1;
  const CUresult r = get_device(&found);
  pop(&context);
  device = found;
  return r == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidResourceHandle;
#endif
}

#if CUDART_VERSION >= 13000
using place = cudaMemLocation;
inline place to_place(memory_location where) {
  if (where.is_host() && where.numa_node >= 0) return {cudaMemLocationTypeHostNuma, where.numa_node};
  return where.is_host() ? place{cudaMemLocationTypeHost, 0} : place{cudaMemLocationTypeDevice, where.device};
}
inline cudaError_t prefetch_async(const void* p, std::size_t bytes, memory_location to, cudaStream_t s) {
  return cudaMemPrefetchAsync(p, bytes, to_place(to), 0, s);
}
inline cudaError_t advise(const void* p, std::size_t bytes, cudaMemoryAdvise what, memory_location where) {
  return cudaMemAdvise(p, bytes, what, to_place(where));
}
// One call for all moves. The batch calls refuse the legacy default stream.
inline cudaError_t prefetch_batch(std::span<const page_move> moves, bool discard, cudaStream_t s) {
  std::vector<void*> addresses;
  std::vector<std::size_t> sizes, first;
  std::vector<place> places;
  for (const page_move& m : moves) {
    if (addresses.empty() || !(m.to == moves[addresses.size() - 1].to)) {
      first.push_back(addresses.size());
      places.push_back(to_place(m.to));
    }
    addresses.push_back(m.begin);
    sizes.push_back(m.bytes);
  }
  const auto call = discard ? cudaMemDiscardAndPrefetchBatchAsync : cudaMemPrefetchBatchAsync;
  return call(addresses.data(), sizes.data(), addresses.size(), places.data(), first.data(), places.size(), 0, s);
}
inline constexpr bool can_discard = true;
inline cudaError_t discard_in_place(const page_move& m, cudaStream_t s) {
  void* begin = m.begin;
  std::size_t bytes = m.bytes;
  return cudaMemDiscardBatchAsync(&begin, &bytes, 1, 0, s);
}
inline cudaError_t discard_and_prefetch(const page_move& m, cudaStream_t s) { return prefetch_batch({&m, 1}, true, s); }
#else
// The plain calls, which all drivers of CUDA 12 have, support devices and the CPU. Calls for its NUMA nodes exist from
// CUDA 12.2 on.
inline int to_place(memory_location where) { return where.is_host() ? cudaCpuDeviceId : where.device; }
inline bool is_node(memory_location where) { return where.is_host() && where.numa_node >= 0; }
#if CUDART_VERSION >= 12020
inline cudaMemLocation to_node(memory_location where) { return {cudaMemLocationTypeHostNuma, where.numa_node}; }
inline cudaError_t prefetch_to_node(const void* p, std::size_t bytes, memory_location to, cudaStream_t s) {
  return cudaMemPrefetchAsync_v2(p, bytes, to_node(to), 0, s);
}
inline cudaError_t advise_of_node(const void* p, std::size_t bytes, cudaMemoryAdvise what, memory_location where) {
  return cudaMemAdvise_v2(p, bytes, what, to_node(where));
}
#else
[[noreturn]] inline void refuse_node(memory_location where) {
  throw not_supported(concat("NUMA node ", where.numa_node,
                             " of the CPU: CUDA tells nodes apart from 12.2 on, and this program was built with an "
                             "older one: build it with CUDA 12.2 or later, or say ferry::host, which is any node"));
}
inline cudaError_t prefetch_to_node(const void*, std::size_t, memory_location to, cudaStream_t) { refuse_node(to); }
inline cudaError_t advise_of_node(const void*, std::size_t, cudaMemoryAdvise, memory_location where) {
  refuse_node(where);
}
#endif
inline cudaError_t prefetch_async(const void* p, std::size_t bytes, memory_location to, cudaStream_t s) {
  return is_node(to) ? prefetch_to_node(p, bytes, to, s) : cudaMemPrefetchAsync(p, bytes, to_place(to), s);
}
inline cudaError_t advise(const void* p, std::size_t bytes, cudaMemoryAdvise what, memory_location where) {
  return is_node(where) ? advise_of_node(p, bytes, what, where) : cudaMemAdvise(p, bytes, what, to_place(where));
}
inline cudaError_t prefetch_batch(std::span<const page_move> moves, bool, cudaStream_t s) {
  for (const page_move& m : moves)
    if (const cudaError_t e = prefetch_async(m.begin, m.bytes, m.to, s); e != cudaSuccess) return e;
  return cudaSuccess;
}
// CUDA 12 cannot discard: the contents stay, which is a valid result for undefined contents.
inline constexpr bool can_discard = false;
inline cudaError_t discard_in_place(const page_move&, cudaStream_t) { return cudaSuccess; }
inline cudaError_t discard_and_prefetch(const page_move&, cudaStream_t) { return cudaSuccess; }
#endif

// Returns the graph that s is being captured into; the runtime owns it.
inline cudaError_t captured_graph(cudaStream_t s, cudaStreamCaptureStatus& status, cudaGraph_t& graph) {
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, nullptr, nullptr, nullptr);
#else
  return cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, nullptr, nullptr);
#endif
}

// Adds a copy of a graph behind the work of s in its capture, as a node of the graph being captured.
inline cudaError_t add_child_graph(cudaStream_t s, cudaGraph_t child) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  if (const cudaError_t e = cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &after, nullptr, &count)) return e;
#else
  if (const cudaError_t e = cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &after, &count)) return e;
#endif
  if (status != cudaStreamCaptureStatusActive) return cudaErrorStreamCaptureInvalidated;
  if (const cudaError_t e = cudaGraphAddChildGraphNode(&node, graph, after, count, child)) return e;
#if CUDART_VERSION >= 13000
  return cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
#else
  return cudaStreamUpdateCaptureDependencies(s, &node, 1, cudaStreamSetCaptureDependencies);
#endif
}

// Enqueues copies that may run in any order. Default streams, captures and CUDA before 13 have no batches: then it
// enqueues single copies.
inline cudaError_t memcpy_batch(const std::vector<void*>& to, const std::vector<const void*>& from,
                                const std::vector<std::size_t>& bytes, cudaStream_t s) {
#if CUDART_VERSION >= 13000
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t e = cudaStreamIsCapturing(s, &status); e != cudaSuccess) return e;
  if (status == cudaStreamCaptureStatusNone && !is_default(s)) {
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    return cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), to.size(), &how, &first, 1, s);
  }
#endif
  for (std::size_t i = 0; i < to.size(); ++i)
    if (const cudaError_t e = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, s); e != cudaSuccess)
      return e;
  return cudaSuccess;
}

// CUDA 11's cudaGraphInstantiate takes an error node and a log; flags are the same from 12.0 on.
inline cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
