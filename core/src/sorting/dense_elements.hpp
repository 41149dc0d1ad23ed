// Dense memory for sorting: elements with one axis fastest, the other axes in the order of their dimensions.
#pragma once
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// True if the elements have no gaps, and this axis is the fastest. Axes are numbered from the last dimension; axis 0
// means row-major order.
bool is_dense_along(const program_operand& o, std::size_t axis);
// Allocates such memory on the stream's device.
program_operand temporary_along(const program_shape& shape, scalar_type type, std::size_t axis, stream_ref s);
// Copies elements between operands of equal shapes and types, bit by bit.
void copy_operand(const stream_ref& s, const program_operand& to, const program_operand& from, source_line at);
// Returns the elements of a program in such memory: the array that the program consists of, or a temporary that one
// submission fills.
program_operand dense_elements(const stream_ref& s, expression_program& p, scalar_type type, std::size_t axis,
                               source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
