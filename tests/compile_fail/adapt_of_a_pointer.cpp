// expect: a pointer, std::span or mdspan refers to elements without owning them
// with: core
#include <ferry/core.hpp>

void call(const ferry::unified_array<float>& a, [[maybe_unused]] const float* p) {
  (void)ferry::adapt(ferry::device(0), std::pair(ferry::to_vector(a), 1));
#ifdef FERRY_WRONG
  (void)ferry::adapt(ferry::device(0), std::pair(p, 1));
#endif
}
