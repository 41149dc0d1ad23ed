// kernel<<<blocks, threads, 0, stream>>>(p...) through the backend, which uses less CPU time.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_HAS_CUDA
#include <memory>
#include <string_view>
#include <type_traits>

#include "ferry/core/detail/kernels/grid_size.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// The stream of a launch, its device, which need not be current, and the kernel's name for errors.
struct launch_place {
  runtime& on;
  native_stream stream;
  int device;
  std::string_view name;
};

// handles: one static object for each kernel.
template <class... P>
void launch_compiled(const launch_place& where, compiled_kernel& handles, void (*kernel)(P...), grid_size blocks,
                     grid_size threads, const std::type_identity_t<P>&... p) {
  void* parameters[] = {const_cast<void*>(static_cast<const void*>(std::addressof(p)))...};
  where.on.backend().launch_compiled(where.stream, where.device,
                                     {.name = where.name,
                                      .function = reinterpret_cast<const void*>(kernel),
                                      .handles = handles,
                                      .blocks = {blocks.x, blocks.y, blocks.z},
                                      .threads = {threads.x, threads.y, threads.z},
                                      .parameters = parameters});
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
