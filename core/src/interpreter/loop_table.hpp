// The loops over one block: compiled once for any processor, and once for AVX2.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/operation_list.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// to[i] = operation(a[i], b[i], c[i]) for i < n. `to` may be an operand.
using block_loop = void (*)(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c, std::size_t n);
// Copies rows x columns elements, between memory with strides in bytes and contiguous memory.
struct element_grid {
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
};
using gather_loop = void (*)(std::byte* to, const std::byte* from, const element_grid& grid);
using scatter_loop = void (*)(std::byte* to, const std::byte* from, const element_grid& grid);
// As scatter, only for elements whose mask is set.
using masked_scatter_loop = void (*)(std::byte* to, const std::byte* from, const bool* mask, const element_grid& grid);

// to[i][j] = the element at from + i * row_stride + j * column_stride + offset[i][j]. `to` may be `offset`.
using indexed_loop = void (*)(std::byte* to, const std::byte* from, const std::byte* offset, const element_grid& grid);

// The instruction bounded_offset. Extent and stride have one value for all elements. Returns false, and has computed
// nothing, if an index is outside.
using bounded_loop = bool (*)(std::byte* to, const std::byte* index, const std::byte* extent, const std::byte* stride,
                              std::size_t n);

// Loops that a build lacks are null.
struct loop_table {
  block_loop operations[listed_operations][scalar_types];  // by type of the operands
  block_loop casts[scalar_types][scalar_types];            // [to][from], also of half and bfloat16
  block_loop to_half[2], to_bfloat16[2];                   // float to float, double to float: rounded
  gather_loop gather[5];                                   // by the logarithm of the size of an element
  scatter_loop scatter[5];
  masked_scatter_loop masked_scatter[5];
  indexed_loop indexed[5];
  bounded_loop bounded_offset;
};

const loop_table& portable_loops();
// Null if this build has none.
const loop_table* avx2_loops();

}  // namespace ferry::inline FERRY_ABI::detail
