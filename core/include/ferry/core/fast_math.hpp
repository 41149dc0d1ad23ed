/// @file
/// Faster, less exact arithmetic in array expressions.
#pragma once
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::math {

/// @addtogroup expressions
/// @{

/// While an object exists, expressions that the calling thread assigns may contract multiplications and additions, and
/// use faster functions. Kernels of CUDA devices then differ from simulated devices in the last bits.
class fast {
 public:
  fast() { ++detail::fast_math_depth(); }
  ~fast() { --detail::fast_math_depth(); }
  fast(const fast&) = delete;
  fast& operator=(const fast&) = delete;
};

/// @}

}  // namespace ferry::inline FERRY_ABI::math
