// The headers of core that kernels of functors include, as texts. CMake generates their source.
#pragma once
#include <span>

#include "ferry/core/detail/operations/functor_definition.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

std::span<const device_header> device_headers();

}  // namespace ferry::inline FERRY_ABI::detail::cuda
