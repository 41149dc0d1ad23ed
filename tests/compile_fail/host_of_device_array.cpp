// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float corner(ferry::device_array<float, 2>& a, ferry::unified_array<float, 2>& u) {
#ifdef FERRY_WRONG
  return ferry::host(a)(0, 0);
#endif
  return ferry::host(u)(0, 0) + ferry::to_vector(a)[0];
}
