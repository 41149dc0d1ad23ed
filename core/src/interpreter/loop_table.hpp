// The loops over one block. They are compiled twice: for any processor, and for AVX2.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/operation_list.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// to[i] = operation(a[i], b[i], c[i]) for i < n. `to` may be an operand.
using block_loop = void (*)(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c, std::size_t n);
// A rectangle of elements with strides in bytes, for copies between it and contiguous memory.
struct element_grid {
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
};
using gather_loop = void (*)(std::byte* to, const std::byte* from, const element_grid& grid);
using scatter_loop = void (*)(std::byte* to, const std::byte* from, const element_grid& grid);
// As scatter, but only for elements whose mask is set.
using masked_scatter_loop = void (*)(std::byte* to, const std::byte* from, const bool* mask, const element_grid& grid);

// to[i][j] = the element at from + i * row_stride + j * column_stride + offset[i][j]. `to` may be `offset`.
using indexed_loop = void (*)(std::byte* to, const std::byte* from, const std::byte* offset, const element_grid& grid);

// The instruction bounded_offset. Extent and stride have one value for all elements. Returns false and writes nothing
// if an index is outside of the extent.
using bounded_loop = bool (*)(std::byte* to, const std::byte* index, const std::byte* extent, const std::byte* stride,
                              std::size_t n);

// Loops that a build lacks are null.
struct loop_table {
  block_loop operations[listed_operations][scalar_types];  // by type of the operands
  block_loop casts[scalar_types][scalar_types];            // [to][from], also of half and bfloat16
  block_loop to_half[2], to_bfloat16[2];                   // from float, from double; the results are floats
  gather_loop gather[5];                                   // by the logarithm of the size of an element
  scatter_loop scatter[5];
  masked_scatter_loop masked_scatter[5];
  indexed_loop indexed[5];
  bounded_loop bounded_offset;
};

const loop_table& portable_loops();
// Returns the loops for AVX2. Null if this build has none, or the processor lacks AVX2.
const loop_table* avx2_loops();

}  // namespace ferry::inline FERRY_ABI::detail
