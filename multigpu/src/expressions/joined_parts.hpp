// Programs that join the results of all members along axes of distribution.
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

// Returns the program that converts positions within the elements that one member reduces to positions within all
// elements. axes: those that are reduced, as in reduction_program.
expression_program position_in_whole(const expression_program& position, const program_part& own, std::uint8_t axes);

}  // namespace ferry::inline FERRY_ABI::detail
