// The memory of operands and destinations of programs.
#pragma once
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns what errors say of an operand.
array_look look_at(const program_operand& o);
// Returns the allocation of an operand. Throws use_after_free.
allocation& alive(const program_operand& o, source_line at);
// True if the elements lie in the order of their indices, without gaps.
bool is_dense(const program_operand& o);

}  // namespace ferry::inline FERRY_ABI::detail
