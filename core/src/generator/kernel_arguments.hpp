// The arguments of a generated kernel: one structure, as kernel_text declares it.
#pragma once
#include <cstddef>
#include <span>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/kernel_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Most bytes of a kernel's parameters (CUDA 12.1 or later, from compute capability 7.0 on).
inline constexpr std::size_t most_argument_bytes = 32764;

// Bytes of the structure, a multiple of 16.
std::size_t argument_bytes(const evaluation& e, const kernel_plan& p);
// Writes the structure. `to` has argument_bytes(), aligned to 16.
void write_arguments(const evaluation& e, const kernel_plan& p, std::byte* to);

// For n < 2^31: n / by == (n * multiplier) >> shift (Granlund and Montgomery, "Division by invariant integers using
// multiplication").
struct divider {
  std::uint64_t multiplier, shift;
};
divider divider_for(std::size_t by);

}  // namespace ferry::inline FERRY_ABI::detail::generator
