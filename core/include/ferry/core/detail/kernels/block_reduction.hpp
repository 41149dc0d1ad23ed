// Reductions of the values of a block's threads.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#if defined(__CUDACC__)
#include <type_traits>

#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// True for types that __shfl_down_sync moves between the threads of a warp without a conversion.
template <class T>
inline constexpr bool has_shuffles =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, long> ||
    std::is_same_v<T, unsigned long> || std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long> ||
    std::is_same_v<T, float> || std::is_same_v<T, double>;

// Combines the values of the threads of a block, in a fixed order; thread 0 has the result. All threads of the block
// call it. A kernel that calls it again calls __syncthreads() in between.
template <class T, class Op>
__device__ T reduce_block(T mine, Op op, T identity) {
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  if constexpr (has_shuffles<T>) {
    constexpr unsigned warps = reduce_threads / 32;
    __shared__ T of_warp[warps];
    for (unsigned half = 16; half > 0; half /= 2) mine = op(mine, __shfl_down_sync(0xffffffffu, mine, half));
    if (thread % 32 == 0) of_warp[thread / 32] = mine;
    __syncthreads();
    if (thread >= 32) return mine;
    mine = thread < warps ? of_warp[thread] : identity;
    for (unsigned half = warps / 2; half > 0; half /= 2) mine = op(mine, __shfl_down_sync(0xffffffffu, mine, half));
    return mine;
  } else {
    __shared__ alignas(T) unsigned char bytes[reduce_threads * sizeof(T)];
    T* all = reinterpret_cast<T*>(bytes);
    all[thread] = mine;
    for (unsigned half = reduce_threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) all[thread] = op(all[thread], all[thread + half]);
    }
    return all[0];
  }
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
