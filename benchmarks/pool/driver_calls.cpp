#include "driver_calls.hpp"

#include <stdexcept>
#include <string>

#include <ferry/core/error.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace benchmarks {

#if defined(__CUDACC__)

namespace {

void check(cudaError_t e, const char* call) {
  if (e == cudaSuccess) return;
  (void)cudaGetLastError();
  const std::string text = std::string(call) + ": " + cudaGetErrorString(e);
  if (e == cudaErrorMemoryAllocation) throw ferry::out_of_memory(text, 0);
  throw std::runtime_error(text);
}

cudaStream_t raw(ferry::native_stream s) { return static_cast<cudaStream_t>(s.handle); }

}  // namespace

// cudaMallocAsync uses the device's current pool.
driver_calls::driver_calls(ferry::detail::backend& backend)
    : backend_(backend),
      pools_(*backend.pools()),
      pool_(pools_.create_pool(ferry::memory_kind::device, 0, {})),
      stream_(backend.create_stream(0, 0)) {
  cudaMemPool_t before = nullptr;
  check(cudaDeviceGetMemPool(&before, 0), "cudaDeviceGetMemPool");
  before_ = before;
  check(cudaDeviceSetMemPool(0, static_cast<cudaMemPool_t>(pool_.handle)), "cudaDeviceSetMemPool");
}

driver_calls::~driver_calls() {
  (void)cudaDeviceSetMemPool(0, static_cast<cudaMemPool_t>(before_));
  backend_.destroy_stream(stream_);
}

void* driver_calls::allocate(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMallocAsync(&p, bytes, raw(stream_)), "cudaMallocAsync");
  return p;
}

void driver_calls::free(void* p) { check(cudaFreeAsync(p, raw(stream_)), "cudaFreeAsync"); }

#else  // never constructed without a driver

driver_calls::driver_calls(ferry::detail::backend& backend)
    : backend_(backend),
      pools_(*backend.pools()),
      pool_(pools_.create_pool(ferry::memory_kind::device, 0, {})),
      stream_(backend.create_stream(0, 0)) {}
driver_calls::~driver_calls() { backend_.destroy_stream(stream_); }
void* driver_calls::allocate(std::size_t bytes) { return pools_.allocate(pool_, bytes, stream_); }
void driver_calls::free(void* p) { pools_.free(p, stream_); }

#endif

}  // namespace benchmarks
