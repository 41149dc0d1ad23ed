// The arithmetic of collectives on the CPU, for the simulator and for MPI.
#pragma once
#include <cstddef>

#include "ferry/multigpu/detail/transport/element_type.hpp"

namespace ferry::detail {

// into[i] = into[i] op from[i]. Sums and products of integers wrap; 16-bit floats are computed in float and rounded.
// Least and greatest values are those of ferry::minimum, maximum, minimum_number and maximum_number.
void combine(element_type type, reduction op, std::byte* into, const std::byte* from, std::size_t count);
// What remains when `ranks` contributions are combined: the division of an average.
void finish(element_type type, reduction op, std::byte* values, std::size_t count, std::size_t ranks);

// Floats of 16 bits: 5 of exponent (IEEE 754 binary16), or the upper half of a float. Rounds to nearest, ties to even.
float from_float16(std::uint16_t bits);
std::uint16_t to_float16(float value);
float from_bfloat16(std::uint16_t bits);
std::uint16_t to_bfloat16(float value);

}  // namespace ferry::detail
