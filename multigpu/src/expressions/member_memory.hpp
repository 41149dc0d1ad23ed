// New memory for elements of one member.
#pragma once
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/device.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Elements of a shape that lie one after the other in device memory. Requires a shape that is not empty.
program_operand new_elements(const program_shape& shape, scalar_type type, const device& on);
// The same elements in memory of `owner`, from `data` on.
program_operand dense_elements(const allocation_ref& owner, const std::byte* data, const program_shape& shape,
                               scalar_type type);
// Number of elements of a shape.
std::size_t count_of(const program_shape& shape);

}  // namespace ferry::inline FERRY_ABI::detail
