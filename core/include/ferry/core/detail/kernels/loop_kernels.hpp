// Kernels that call a functor at each index of a space. Device code alone.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#if defined(__CUDACC__)
#include <cstddef>
#include <type_traits>

#include "ferry/core/index_space.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

inline constexpr unsigned block_threads = 256;

// Spans whose elements along the last axis may be adjacent in memory.
template <class P>
concept strided_parameter = requires(const P& p) {
  p.with_unit_stride();
};
// A span with adjacent elements, as a parameter of a kernel of its own, where the compiler knows the stride.
template <class P>
struct unit_strided {
  P span;
};
template <class P>
FERRY_HOST_DEVICE const P& given(const P& p) {
  return p;
}
template <class P>
FERRY_HOST_DEVICE P given(const unit_strided<P>& p) {
  return p.span.with_unit_stride();
}

template <class Space>
inline constexpr bool is_over_tiles = std::is_same_v<typename Space::index_list, void(tile)>;
template <class Space>
inline constexpr bool is_over_line = Space::indices == 1 && !is_over_tiles<Space>;

// One dimension. A thread calls f `steps` times, at a distance of blockDim.x.
template <class Space, class F, class... P>
__global__ void __launch_bounds__(block_threads) run_over_line(Space space, unsigned steps, F f, P... p) {
  std::size_t i = blockIdx.x * (std::size_t{blockDim.x} * steps) + threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < steps && i < space.x; ++k, i += blockDim.x) space.call(f, i, 0, 0, given(p)...);
}

// Two and three dimensions, and tiles. Blocks have bx x (256 / bx) threads and advance along x first. A thread calls f
// at `steps` adjacent indices of the slowest dimension, whose elements then come from a cache; for tiles at one.
struct block_layout {
  unsigned bx = 0, along_x = 0, along_y = 0, steps = 1;  // threads along x; blocks along x and y
};
template <class Space, class F, class... P>
__global__ void __launch_bounds__(block_threads) run_over_blocks(Space space, block_layout b, F f, P... p) {
  const unsigned line = blockIdx.x / b.along_x;
  const unsigned layer = Space::indices > 2 ? line / b.along_y : 0;
  const std::size_t i = (blockIdx.x - line * b.along_x) * std::size_t{b.bx} + threadIdx.x;
  const std::size_t row = (line - layer * b.along_y) * std::size_t{block_threads / b.bx} + threadIdx.y;
  if constexpr (is_over_tiles<Space>) {
    if (i < space.x && row < space.y) space.call(f, i, row, 0, given(p)...);
  } else if constexpr (Space::indices == 2) {
    if (i >= space.x) return;
#pragma unroll 1
    for (unsigned s = 0; s < b.steps; ++s)
      if (const std::size_t j = row * b.steps + s; j < space.y) space.call(f, i, j, 0, given(p)...);
  } else {
    if (i >= space.x || row >= space.y) return;
#pragma unroll 1
    for (unsigned s = 0; s < b.steps; ++s)
      if (const std::size_t k = layer * std::size_t{b.steps} + s; k < space.z) space.call(f, i, row, k, given(p)...);
  }
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
