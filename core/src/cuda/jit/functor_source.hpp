// Complete CUDA C++ for kernels of functors.
#pragma once
#include "ferry/core/detail/operations/functor_definition.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Returns the source. Kernels with equal sources have equal options and headers.
jit::kernel_source functor_source(const kernel_text& kernel);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
