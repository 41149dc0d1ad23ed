// The arithmetic of collectives on the CPU, for the simulator and for MPI.
#pragma once
#include <cstddef>

#include "ferry/multigpu/detail/transport/element_type.hpp"

namespace ferry::inline FERRY_ABI::detail {

// into[i] = into[i] op from[i]. Sums and products of integers wrap; 16-bit floats are computed in float and rounded.
// Minimum and maximum are those of ferry::minimum, maximum, minimum_number and maximum_number.
void combine(element_type type, reduction op, std::byte* into, const std::byte* from, std::size_t count);
// Completes a combination of `ranks` contributions: divides for an average.
void finish(element_type type, reduction op, std::byte* values, std::size_t count, std::size_t ranks);

// 16-bit floats: float16 has 5 bits of exponent (IEEE 754 binary16), bfloat16 is the upper half of a float. Conversions
// round to nearest, ties to even.
float from_float16(std::uint16_t bits);
std::uint16_t to_float16(float value);
float from_bfloat16(std::uint16_t bits);
std::uint16_t to_bfloat16(float value);

}  // namespace ferry::inline FERRY_ABI::detail
