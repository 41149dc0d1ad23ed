// How the kernels of loops divide an index space, and what they get. Compiled for devices as well: no host code.
#pragma once
#include <cstddef>
#include <type_traits>

#include "ferry/core/detail/kernels/spaces.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr unsigned block_threads = 256, reduce_threads = 256;

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

// The blocks of loops of two dimensions and more, and over tiles. They have bx x (256 / bx) threads and advance along
// x first. A thread calls f at `steps` adjacent indices of the slowest dimension, whose elements then come from a
// cache; for tiles at one.
struct block_layout {
  unsigned bx = 0, along_x = 0, along_y = 0, steps = 1;  // threads along x; blocks along x and y
};

}  // namespace ferry::inline FERRY_ABI::detail
