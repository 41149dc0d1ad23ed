// The kernel used by convert_strided.
#pragma once
#include <cuda_runtime_api.h>

#include <ferry/core/detail/backend/backend.hpp>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Launches the kernel on s, whose device must be current. Both types must be numbers. `most_blocks` bounds the grid.
cudaError_t launch_strided_convert(const strided_bytes& to, number_type to_type, const strided_bytes& from,
                                   number_type from_type, const strided_shape& shape, unsigned most_blocks,
                                   cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
