// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float corner(const ferry::device_array<float, 2>& a) {
#ifdef FERRY_WRONG
  return a(0, 0);
#endif
  return ferry::to_unified(a)(0, 0);
}
