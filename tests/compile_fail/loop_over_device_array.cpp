// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

template <class Array>
void set(Array& a) {
  for (float& x : a) x = 1;
}

void call(ferry::device_array<float>& a, ferry::unified_array<float>& u) {
#ifdef FERRY_WRONG
  set(a);
#endif
  set(u);
  ferry::fill(a, 1);
}
