// CUDA C++ for the instructions of programs.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The type in registers.
std::string_view register_type(scalar_type t);
// The type in memory: bool, half and bfloat16 are integers there.
std::string_view memory_type(scalar_type t);
// The value of an instruction. Earlier values are r0, r1, ...; loaded elements v0, v1, ...; indices x0, x1, ...; and
// constants g.c0, g.c1, ...
std::string value_text(const evaluation& e, const instruction& i);
// The same for instructions without calls.
std::string value_text(const instruction& i);
// The value `name` of a register type, as it is stored.
std::string stored_text(const std::string& name, scalar_type in_memory);

}  // namespace ferry::inline FERRY_ABI::detail::generator
