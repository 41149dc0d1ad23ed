// Bodies of kernels that combine a functor's results over an index space. Compiled by nvcc and by NVRTC.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#if defined(__CUDACC__)
#include <cstddef>
#include <type_traits>

#include "ferry/core/detail/kernels/block_reduction.hpp"
#include "ferry/core/detail/kernels/spaces.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// Writes the result of each block to `partial`.
template <class T, class Space, class F, class Op, class... P>
__device__ __forceinline__ void reduce_space(const Space& space, const F& f, const Op& op, const T& identity,
                                             T* partial, const P&... p) {
  T mine = identity;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  if constexpr (std::is_same_v<Space, space_1d>) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < space.x; i += step)
      mine = op(mine, static_cast<T>(space.call(f, i, 0, 0, p...)));
  } else {
    const std::size_t rows = space.y * space.z;
    for (std::size_t row = blockIdx.y; row < rows; row += gridDim.y)
      for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < space.x; i += step)
        mine = op(mine, static_cast<T>(space.call(f, i, row % space.y, row / space.y, p...)));
  }
  mine = reduce_block(mine, op, identity);
  if (threadIdx.x == 0) partial[blockIdx.y * std::size_t{gridDim.x} + blockIdx.x] = mine;
}

// Combines `count` values by one block.
template <class T, class Op>
__device__ __forceinline__ void reduce_values(const T* partial, unsigned count, const Op& op, const T& identity,
                                              T* to) {
  T mine = identity;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine = op(mine, partial[i]);
  mine = reduce_block(mine, op, identity);
  if (threadIdx.x == 0) *to = mine;
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
