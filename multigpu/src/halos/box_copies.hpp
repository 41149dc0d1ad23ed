// Many small strided copies in one kernel.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr std::size_t box_rank = max_rank + 1;  // the bytes of an element are one more dimension

// Words of `word` bytes (1 to 16, a power of two) at index[d] * stride[d], fastest dimension first.
struct box_copy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  unsigned word = 1, rank = 0;
  std::size_t words = 0;
  std::size_t extent[box_rank] = {};
  std::ptrdiff_t to_stride[box_rank] = {}, from_stride[box_rank] = {};
};

// Returns the equivalent copy with the fewest dimensions and the widest words. The sides must not overlap.
box_copy plan_box(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape);

// Enqueues all copies on `s`, whose device must reach every side. `uses` are the accessed bytes, for the simulator.
void copy_boxes(native_stream s, int device, std::span<const box_copy> boxes, std::span<const kernel_use> uses);

}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI::detail::cuda {
// As copy_boxes, by CUDA, in multigpu/src/cuda; only in builds with CUDA.
void launch_box_copies(native_stream s, int device, std::span<const detail::box_copy> boxes);
}  // namespace ferry::inline FERRY_ABI::detail::cuda
