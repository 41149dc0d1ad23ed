// Bodies of the kernels of the part of a reduction that one member of a team computes. Compiled by nvcc and by NVRTC.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#if defined(__CUDACC__)
#include <cstddef>
#include <type_traits>

#include "ferry/core/detail/kernels/block_reduction.hpp"
#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/multigpu/detail/loops/part_spaces.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// Blocks are arranged as in call_over_blocks. They stride over x, except for tiles, where a loop would cost registers.
template <class T, class Space, class F, class Op, class... P>
__device__ __forceinline__ void reduce_part(const Space& space, const block_layout& b, const F& f, const Op& op,
                                            const T& identity, T* partial, unsigned* finished, const P&... p) {
  const unsigned line = blockIdx.x / b.along_x;
  const unsigned layer = Space::indices > 2 ? line / b.along_y : 0;
  const std::size_t i = (blockIdx.x - line * b.along_x) * std::size_t{b.bx} + threadIdx.x;
  const std::size_t j = (line - layer * b.along_y) * std::size_t{reduce_threads / b.bx} + threadIdx.y;
  T mine = identity;
  if constexpr (std::is_same_v<Space, part_space_of_tiles>) {
    if (i < space.x && j < space.y) mine = static_cast<T>(space.call(f, i, j, layer, p...));
  } else {
    if (j < space.y)
      for (std::size_t k = i; k < space.x; k += std::size_t{b.along_x} * b.bx)
        mine = op(mine, static_cast<T>(space.call(f, k, j, layer, p...)));
  }
  mine = reduce_block(mine, op, identity);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    partial[blockIdx.x] = mine;
    if (blockIdx.x == 0) *finished = 0;  // for reduce_parts, which runs after this kernel
  }
}

// The last block to finish combines the results of all blocks.
template <class T, class Op>
__device__ __forceinline__ void reduce_parts(const T* partial, unsigned count, const Op& op, const T& identity,
                                             T* of_block, unsigned* finished, T* to) {
  T mine = identity;
  for (unsigned i = blockIdx.x * reduce_threads + threadIdx.x; i < count; i += gridDim.x * reduce_threads)
    mine = op(mine, partial[i]);
  mine = reduce_block(mine, op, identity);
  if (gridDim.x > 1) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      of_block[blockIdx.x] = mine;
      __threadfence();
      is_last = atomicAdd(finished, 1u) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    mine = reduce_block(threadIdx.x < gridDim.x ? of_block[threadIdx.x] : identity, op, identity);
  }
  if (threadIdx.x == 0) *to = mine;
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
