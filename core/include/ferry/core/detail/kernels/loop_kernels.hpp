// Bodies of kernels that call a functor at each index of a space. Compiled by nvcc and by NVRTC.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#if defined(__CUDACC__)
#include <cstddef>

#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/detail/kernels/spaces.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// One dimension. A thread calls f `steps` times, at a distance of blockDim.x.
template <class Space, class F, class... P>
__device__ __forceinline__ void call_over_line(const Space& space, unsigned steps, const F& f, const P&... p) {
  std::size_t i = blockIdx.x * (std::size_t{blockDim.x} * steps) + threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < steps && i < space.x; ++k, i += blockDim.x) space.call(f, i, 0, 0, given(p)...);
}

// Calls in an unrolled loop. Checks of indices make them long: NVRTC took 98 s for four of a lattice Boltzmann step.
inline constexpr unsigned unrolled_calls = FERRY_CHECKS ? 1 : 4;

// Two dimensions and more, and tiles. Calls of neighbouring rows or layers share index arithmetic once the loop over
// them is unrolled: a 5-point stencil by elements then has 0.72 of a copy's rate on an H200, instead of 0.65.
template <class Space, class F, class... P>
__device__ __forceinline__ void call_over_blocks(const Space& space, const block_layout& b, const F& f, const P&... p) {
  const unsigned line = blockIdx.x / b.along_x;
  const unsigned layer = Space::indices > 2 ? line / b.along_y : 0;
  const std::size_t i = (blockIdx.x - line * b.along_x) * std::size_t{b.bx} + threadIdx.x;
  const std::size_t row = (line - layer * b.along_y) * std::size_t{block_threads / b.bx} + threadIdx.y;
  if constexpr (is_over_tiles<Space>) {
    if (i < space.x && row < space.y) space.call(f, i, row, 0, given(p)...);
  } else if constexpr (Space::indices == 2) {
    if (i >= space.x) return;
    const std::size_t first = row * b.steps, end = first + b.steps < space.y ? first + b.steps : space.y;
#pragma unroll unrolled_calls
    for (std::size_t j = first; j < end; ++j) space.call(f, i, j, 0, given(p)...);
  } else {
    if (i >= space.x || row >= space.y) return;
    const std::size_t first = std::size_t{layer} * b.steps, end = first + b.steps < space.z ? first + b.steps : space.z;
#pragma unroll unrolled_calls
    for (std::size_t k = first; k < end; ++k) space.call(f, i, row, k, given(p)...);
  }
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
