/// @file
/// A tile of a two-dimensional index space, as functors get it.
#pragma once
#include <cstddef>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// A part of a two-dimensional space for one call of the functor. Clipped at the end of the space.
struct tile {
  std::size_t row, column;    ///< first element
  std::size_t rows, columns;  ///< size, at most that of `tiles`
};

/// @}

}  // namespace ferry::inline FERRY_ABI
