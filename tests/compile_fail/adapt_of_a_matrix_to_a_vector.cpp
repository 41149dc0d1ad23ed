// expect: a std::vector has one dimension
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& a, [[maybe_unused]] const ferry::device_array<float, 2>& b) {
  (void)ferry::adapt<ferry::cpu_vector>(a);
#ifdef FERRY_WRONG
  (void)ferry::adapt<ferry::cpu_vector>(b);
#endif
}
