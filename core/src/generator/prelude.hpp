// Device functions that generated kernels call.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The functions that the operations and types of a program need. No headers: including CUDA's would take NVRTC longer
// than the kernel.
std::string prelude_for(const evaluation& e);
// The type of constants and their values; a part of prelude_for() where programs have constants.
std::string_view constant_functions();

}  // namespace ferry::inline FERRY_ABI::detail::generator
