// The memory of operands and destinations of programs.
#pragma once
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// How errors describe an operand.
array_look look_at(const program_operand& o);
// The allocation of an operand. Throws use_after_free.
allocation& alive(const program_operand& o, source_line at);
// Elements in the order of their indices, without gaps.
bool is_dense(const program_operand& o);
// A dense array of the same shape and type on the stream's device.
program_operand temporary_like(const program_operand& to, stream_ref s);

}  // namespace ferry::inline FERRY_ABI::detail
