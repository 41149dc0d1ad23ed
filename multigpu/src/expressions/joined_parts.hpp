// Programs that join the results of all members along the axis of distribution.
#pragma once
#include <cstddef>

#include "ferry/core/detail/reductions/reduction_program.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the program that joins a and b. t: the type in which elements are computed.
expression_program joined_values(reduction_function f, scalar_type t, const expression_program& a,
                                 const expression_program& b);

struct value_at_position {
  expression_program value, position;
};
// Returns the program of the lesser (argmin) or greater (argmax) of two values; of equal ones the first. t: the type in
// which values are compared.
value_at_position first_found(reduction_function f, scalar_type t, const value_at_position& a,
                              const value_at_position& b);

// The elements that one member reduces: cells [first, first + count) of `extent` along an axis, counted from the last.
struct reduced_box {
  program_shape whole;
  std::size_t axis = 0, first = 0, count = 0;
  std::uint8_t axes = 0;  // those that are reduced, as in reduction_program
};
// Returns the program that converts positions within the box to positions within all elements.
expression_program position_in_whole(const expression_program& position, const reduced_box& b);

}  // namespace ferry::inline FERRY_ABI::detail
