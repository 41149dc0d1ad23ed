// The kernels used by copy_strided and fill_strided.
#pragma once
#include <cuda_runtime_api.h>

#include "ferry/version.hpp"
#include "strided_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Launch the kernel on s, whose device must be current. `most_blocks` bounds the grid; threads stride over the rest.
cudaError_t launch_strided_copy(const strided_plan& plan, unsigned most_blocks, cudaStream_t s);
cudaError_t launch_strided_fill(const fill_plan& plan, unsigned most_blocks, cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
