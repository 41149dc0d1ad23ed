// The kernels that store, or add, elements at indices.
#pragma once
#include <cuda_runtime_api.h>

#include "ferry/core/detail/operations/scatter_task.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Launches one kernel on a stream whose device is current, and returns its error. Values at indices outside are left
// out; check_indices: they trap. most_blocks: of a grid.
cudaError_t launch_scatter(const scatter_task& t, bool check_indices, unsigned most_blocks, cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
