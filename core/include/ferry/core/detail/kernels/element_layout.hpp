// How the arrays of a call are traversed element by element: broadcast, in the order of the first one's memory.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr std::size_t most_layout_arrays = 16;

// Of an array, in the order of its dimensions.
struct layout_array {
  std::span<const std::size_t> extent;
  std::span<const std::ptrdiff_t> stride;  // in elements
  const std::byte* data;
  std::size_t element_bytes;
  array_look (*look)(const void* argument);  // for messages
  const void* argument;
};

// Axes are numbered from the fastest. Axes of extent 1 are removed. Axes that all arrays traverse as one are joined.
struct element_layout {
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
  std::array<std::array<std::ptrdiff_t, max_rank>, most_layout_arrays> stride{};  // by array, in elements
  std::size_t count() const {
    std::size_t n = 1;
    for (std::size_t d = 0; d != rank; ++d) n *= extent[d];
    return n;
  }
  // True if one axis has all elements, along which the arrays in [0, arrays) have stride 1; from `outputs` on, or 0.
  bool is_flat(std::size_t arrays, std::size_t outputs) const {
    for (std::size_t k = 0; rank != 0 && k != arrays; ++k)
      if (stride[k][0] != 1 && (k < outputs || stride[k][0] != 0)) return false;
    return rank <= 1;
  }
};

// The first `outputs` arrays are written and have one shape; the others are read and broadcast to it. Throws
// invalid_argument for shapes that do not fit, outputs whose elements repeat, and arrays that overlap an output as
// other elements.
element_layout layout_of(std::span<const layout_array> all, std::size_t outputs, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
