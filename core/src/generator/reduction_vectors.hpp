// Whether one instruction of a generated reduction or scan can load or store several elements.
#pragma once
#include <cstddef>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// True if groups of `lanes` successive values along axis 0, which is reduced, can be loaded by one instruction.
bool can_load(const reduction_evaluation& r, unsigned lanes);
// True if groups of `lanes` successive results along axis 0 can be stored by one instruction.
bool can_store(const reduction_evaluation& r, const evaluation_operand& to, unsigned lanes);
// Returns the size of the largest elements of operands, in bytes; 1 without operands.
std::size_t widest_operand(const reduction_evaluation& r);

}  // namespace ferry::inline FERRY_ABI::detail::generator
