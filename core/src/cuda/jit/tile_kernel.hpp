// The kernel that interprets tile programs.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/jit/tile_program.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Launches the kernel on s, whose device must be current.
cudaError_t launch_tiles(const tile_program& p, cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
