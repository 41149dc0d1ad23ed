// Kernels that call functors, ready to be launched: nvcc compiles them, and NVRTC those of sources that nvcc does not
// compile.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_HAS_CUDA
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>

#include "ferry/core/detail/kernels/kernel_bodies.hpp"
#include "ferry/core/detail/kernels/kernel_types.hpp"
#include "ferry/core/detail/kernels/loop_grid.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The driver's function of a kernel for the stream's device; null on simulated devices, which only check the text.
// Blocks until it is compiled. Throws not_supported if it cannot be compiled, and where the stream is being captured.
// handles: where later launches find it.
void* compile_text_kernel(stream_ref s, compiled_kernel& handles, const std::function<kernel_text()>& text);

// One kernel for one device: that of nvcc, or the driver's function of one by NVRTC.
struct kernel_code {
  compiled_kernel& handles;
  const void* function;
  void* loaded;
};
// With the types of its parameters.
template <class... P>
struct prepared_kernel {
  kernel_code code;
};

inline namespace FERRY_UNIT {

#if defined(__CUDACC__)
template <class Body, class... P>
__global__ void __launch_bounds__(block_threads) run_kernel(P... p) {
  Body::run(p...);
}
// Parameters stay in constant memory: loops over their members would copy them to the stack. No pack of parameters: g++
// does not find the address of a function with a pack of const ones.
template <class Body, class A, class B, class C, class D>
__global__ void __launch_bounds__(block_threads)
    run_kernel_of_constants(const __grid_constant__ A a, const __grid_constant__ B b, const __grid_constant__ C c,
                            const __grid_constant__ D d) {
  Body::run(a, b, c, d);
}
#endif

// The kernel of a body with these parameters, for the functor F. Call it before anything is submitted: NVRTC may have
// to compile it. After the first call for a device it takes no lock.
template <class Body, class F, class... P>
kernel_code kernel_code_on([[maybe_unused]] stream_ref s) {
  static compiled_kernel handles;
#if defined(__CUDACC__)
  if constexpr (Body::text.has_constants) {
    void (*const kernel)(P...) = run_kernel_of_constants<Body, P...>;
    return {handles, reinterpret_cast<const void*>(kernel), nullptr};
  } else {
    void (*const kernel)(P...) = run_kernel<Body, P...>;
    return {handles, reinterpret_cast<const void*>(kernel), nullptr};
  }
#else
  const auto device = static_cast<std::size_t>(s.timeline().device());
  void* loaded = nullptr;
  if (device < handles.of_device.size()) loaded = handles.of_device[device].load(std::memory_order_acquire);
  if (!loaded) [[unlikely]]
    loaded = compile_text_kernel(s, handles, kernel_text_of<Body, F, P...>);
  return {handles, nullptr, loaded};
#endif
}
template <class Body, class F, class... P>
prepared_kernel<P...> kernel_on(stream_ref s) {
  return {kernel_code_on<Body, F, P...>(s)};
}

// The stream of a launch, its device, which need not be current, and the kernel's name for errors.
struct launch_place {
  runtime& on;
  native_stream stream;
  int device;
  std::string_view name;
};

// kernel<<<blocks, threads, 0, stream>>>(p...) through the backend, which uses less CPU time.
template <class... P>
void launch_kernel(const launch_place& where, const prepared_kernel<P...>& kernel, grid_size blocks, grid_size threads,
                   const std::type_identity_t<P>&... p) {
  void* parameters[] = {const_cast<void*>(static_cast<const void*>(std::addressof(p)))...};
  where.on.backend().launch_compiled(where.stream, where.device,
                                     {.name = where.name,
                                      .function = kernel.code.function,
                                      .handles = kernel.code.handles,
                                      .blocks = {blocks.x, blocks.y, blocks.z},
                                      .threads = {threads.x, threads.y, threads.z},
                                      .parameters = parameters,
                                      .loaded = kernel.code.loaded});
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
