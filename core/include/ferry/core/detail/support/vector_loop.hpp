// Loops over elements that g++ vectorizes at -O2, too.
#pragma once
#include <cstddef>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Calls f(i) for each i below n, in chunks of a constant number: g++ -O2 vectorizes no other loops. A result may be
// stored where an operand is, as the same element: each iteration reads it before.
template <std::ptrdiff_t Chunk = 32, class F>
inline void vector_loop(std::ptrdiff_t n, const F& f) {
  std::ptrdiff_t i = 0;
  for (; n - i >= Chunk; i += Chunk) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (std::ptrdiff_t k = 0; k < Chunk; ++k) f(i + k);
  }
  for (; i < n; ++i) f(i);
}

}  // namespace ferry::inline FERRY_ABI::detail
