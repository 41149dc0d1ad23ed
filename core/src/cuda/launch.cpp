// Launches kernels compiled by nvcc or NVRTC through the driver API: 2.85 us of CPU time, <<<>>> takes 3.11 (H200).
// Unlike the runtime's launch, it needs no current device, and does not report pending errors of the program as its
// own.
#include <optional>

#include "backend_class.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

// Caches the result of cudaGetFuncBySymbol, so that later launches need no lookup. The first one loads the code, inside
// a capture or not.
cudaError_t find_handle(const compiled_launch& k, int device, cudaFunction_t& found) {
  found = static_cast<cudaFunction_t>(k.loaded);
  if (found) return cudaSuccess;
  std::atomic<void*>* const kept =
      device < compiled_kernel::most_devices ? &k.handles.of_device[static_cast<std::size_t>(device)] : nullptr;
  found = kept ? static_cast<cudaFunction_t>(kept->load(std::memory_order_acquire)) : nullptr;
  if (found) [[likely]]
    return cudaSuccess;
  const relaxed_scope relaxed;
  const device_scope current(device, "launch");
  const cudaError_t e = cudaGetFuncBySymbol(&found, k.function);
  if (e == cudaSuccess && kept) kept->store(found, std::memory_order_release);
  return e;
}

}  // namespace

void cuda_backend::launch_compiled(native_stream s, int device, const compiled_launch& k) {
  static const auto by_driver =
      driver_call<CUresult(const CUlaunchConfig*, CUfunction, void**, void**)>("cuLaunchKernelEx");
  const cudaStream_t stream = raw(s);
  cudaError_t e = cudaSuccess;
  if (k.loaded && !by_driver) [[unlikely]]
    throw not_supported("loops with a FERRY_FUNCTOR need a driver of CUDA 12.0 or later (cuLaunchKernelEx)");
  std::optional<device_scope> current;
  if (!by_driver || is_default(stream)) [[unlikely]]  // a default stream belongs to the current device
    current.emplace(device, "launch");
  if (current && !k.loaded) [[unlikely]] {
    e = cudaLaunchKernel(k.function, {k.blocks[0], k.blocks[1], k.blocks[2]},
                         {k.threads[0], k.threads[1], k.threads[2]}, k.parameters, 0, stream);
  } else {
    cudaFunction_t function = nullptr;
    e = find_handle(k, device, function);
    CUlaunchConfig how{};
    how.gridDimX = k.blocks[0], how.gridDimY = k.blocks[1], how.gridDimZ = k.blocks[2];
    how.blockDimX = k.threads[0], how.blockDimY = k.threads[1], how.blockDimZ = k.threads[2];
    how.hStream = stream;
    if (e == cudaSuccess) e = static_cast<cudaError_t>(by_driver(&how, function, k.parameters, nullptr));
  }
  if (e != cudaSuccess) [[unlikely]]
    fail_on(e, concat("launch of kernel '", k.name, "'"), stream);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
