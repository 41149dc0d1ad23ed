// The kernel that interprets programs for which no kernel is compiled.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/jit/interpreter_program.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Launches the kernel on s, whose device must be current. multiprocessors: their number on that device. Returns
// cudaErrorNotSupported for programs that are too large for the device's shared memory, or for the parameters of
// kernels of this toolkit.
cudaError_t launch_interpreter(const interpreter_program& p, int multiprocessors, cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
