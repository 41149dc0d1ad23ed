// The number of blocks of a kernel, or of threads of a block, as CUDA's dim3.
#pragma once
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct grid_size {
  constexpr grid_size(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x(along_x),
        y(along_y),
        z(along_z) {}
  unsigned x, y, z;
};

}  // namespace ferry::inline FERRY_ABI::detail
