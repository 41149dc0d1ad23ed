// CUDA C++ for the instructions of programs.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Returns the C++ type of a value in registers.
std::string_view register_type(scalar_type t);
// Returns the C++ type in memory, where bool, half and bfloat16 are integers.
std::string_view memory_type(scalar_type t);
// Returns the value of an instruction as an expression. Its names are r0, r1, ... for earlier values, v0, v1, ... for
// loaded elements, x0, x1, ... for indices, and g.c0, g.c1, ... for constants.
std::string value_text(const evaluation& e, const instruction& i);
// The same, for instructions that are no calls.
std::string value_text(const instruction& i);
// Returns the conversion of the register `name` to its type in memory.
std::string stored_text(const std::string& name, scalar_type in_memory);

}  // namespace ferry::inline FERRY_ABI::detail::generator
