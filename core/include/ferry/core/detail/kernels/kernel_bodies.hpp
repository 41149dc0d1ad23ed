// What the kernels of loops and reductions call: NVRTC by its name, nvcc as a function.
#pragma once
#include "ferry/core/detail/kernels/loop_kernels.hpp"
#include "ferry/core/detail/kernels/reduce_kernels.hpp"
#include "ferry/core/detail/operations/kernel_writer.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"

// The function of a body, in code for devices.
#if defined(__CUDACC__)
#define FERRY_DETAIL_KERNEL_BODY(function)                    \
  template <class... P>                                       \
  static __device__ __forceinline__ void run(const P&... p) { \
    function(p...);                                           \
  }
#else
#define FERRY_DETAIL_KERNEL_BODY(function)
#endif

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

struct over_line {
  static constexpr device_function text{"ferry/core/detail/kernels/loop_kernels.hpp", "call_over_line"};
  FERRY_DETAIL_KERNEL_BODY(call_over_line)
};
struct over_blocks {
  static constexpr device_function text{"ferry/core/detail/kernels/loop_kernels.hpp", "call_over_blocks"};
  FERRY_DETAIL_KERNEL_BODY(call_over_blocks)
};
struct reducing_space {
  static constexpr device_function text{"ferry/core/detail/kernels/reduce_kernels.hpp", "reduce_space"};
  FERRY_DETAIL_KERNEL_BODY(reduce_space)
};
struct reducing_values {
  static constexpr device_function text{"ferry/core/detail/kernels/reduce_kernels.hpp", "reduce_values"};
  FERRY_DETAIL_KERNEL_BODY(reduce_values)
};

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
