// Launches of kernels that NVRTC compiles, from sources that nvcc does not compile.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
#include <functional>
#include <memory>

#include "ferry/core/detail/kernels/kernel_types.hpp"
#include "ferry/core/detail/kernels/launch_compiled.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The driver's function, and the table that it comes from.
struct text_kernel {
  compiled_kernel& handles;
  void* function;
};

// Returns the kernel for the stream's device. Blocks until it is compiled. Throws not_supported if it cannot be
// compiled, and where the stream is being captured.
void* compile_text_kernel(stream_ref s, compiled_kernel& handles, const std::function<kernel_text()>& text);

inline namespace FERRY_UNIT {

// Call it before anything is submitted. After the first call for a device it takes no lock.
template <const device_function& Called, class F, class... P>
text_kernel text_kernel_on(stream_ref s) {
  static compiled_kernel handles;
  const auto device = static_cast<std::size_t>(s.timeline().device());
  void* function = nullptr;
  if (device < handles.of_device.size()) function = handles.of_device[device].load(std::memory_order_acquire);
  if (!function) [[unlikely]]
    function = compile_text_kernel(s, handles, [] { return kernel_text_of<F, P...>(Called); });
  return {handles, function};
}

template <class... P>
void launch_text(const launch_place& where, const text_kernel& kernel, grid_size blocks, grid_size threads,
                 const P&... p) {
  void* parameters[] = {const_cast<void*>(static_cast<const void*>(std::addressof(p)))...};
  where.on.backend().launch_compiled(where.stream, where.device,
                                     {.name = where.name,
                                      .function = nullptr,
                                      .handles = kernel.handles,
                                      .blocks = {blocks.x, blocks.y, blocks.z},
                                      .threads = {threads.x, threads.y, threads.z},
                                      .parameters = parameters,
                                      .loaded = kernel.function});
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
