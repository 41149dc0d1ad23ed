// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float first(ferry::device_array<float>& a, const ferry::unified_array<float>& u) {
#ifdef FERRY_WRONG
  return a[0];
#endif
  return ferry::to_vector(a)[0] + u[0];
}
