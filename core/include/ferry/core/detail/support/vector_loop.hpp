// Loops over elements that g++ vectorizes at -O2, too.
#pragma once
#include <cstddef>
#include <type_traits>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Calls store(i, compute(i)) for each i below n. The values of a constant number of elements are computed before they
// are stored: g++ -O2 vectorizes no other loops, and a value may be stored where an operand is, as the same element. No
// pragma says that calls are independent: it would apply to local arrays of `compute`, too.
template <std::ptrdiff_t Chunk = 32, class Compute, class Store>
inline void vector_loop(std::ptrdiff_t n, const Compute& compute, const Store& store) {
  using value = std::remove_cvref_t<decltype(compute(n))>;
  std::ptrdiff_t i = 0;
  if constexpr (Chunk > 1 && std::is_trivially_default_constructible_v<value>)
    for (; n - i >= Chunk; i += Chunk) {
      value chunk[Chunk];
      for (std::ptrdiff_t k = 0; k < Chunk; ++k) chunk[k] = compute(i + k);
      for (std::ptrdiff_t k = 0; k < Chunk; ++k) store(i + k, chunk[k]);
    }
  for (; i < n; ++i) store(i, compute(i));
}

}  // namespace ferry::inline FERRY_ABI::detail
