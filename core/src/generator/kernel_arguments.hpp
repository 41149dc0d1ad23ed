// The arguments of a generated kernel: one structure, which kernel_text.cpp declares in the source.
#pragma once
#include <cstddef>
#include <span>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/kernel_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Maximum size of a kernel's parameters, in bytes (CUDA 12.1 or later, compute capability 7.0 or later).
inline constexpr std::size_t most_argument_bytes = 32764;

// Returns the size of the structure in bytes, a multiple of 16.
std::size_t argument_bytes(const evaluation& e, const kernel_plan& p);
// Writes the structure to argument_bytes() bytes, aligned to 16.
void write_arguments(const evaluation& e, const kernel_plan& p, std::byte* to);

// Division by multiplication: for n < 2^31, n / by == (n * multiplier) >> shift (Granlund and Montgomery, "Division by
// invariant integers using multiplication").
struct divider {
  std::uint64_t multiplier, shift;
};
divider divider_for(std::size_t by);

}  // namespace ferry::inline FERRY_ABI::detail::generator
