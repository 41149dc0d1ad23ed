// Device functions that generated kernels call.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Returns the functions that the operations and types of a program need. They include no headers: NVRTC would take
// longer for CUDA's headers than for the kernel.
std::string prelude_for(const evaluation& e);
// Returns the type and the functions of constants. A part of prelude_for() for programs with constants.
std::string_view constant_functions();

}  // namespace ferry::inline FERRY_ABI::detail::generator
