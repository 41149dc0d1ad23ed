// Device functions that generated kernels call.
#pragma once
#include <string>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The functions that the operations and types of a program need. No headers: including CUDA's would take NVRTC longer
// than the kernel.
std::string prelude_for(const evaluation& e);
// The accumulators of reductions.
std::string reduction_prelude_for(const reduction_evaluation& r);

}  // namespace ferry::inline FERRY_ABI::detail::generator
