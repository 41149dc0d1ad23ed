// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float first(ferry::device_array<float>& a, ferry::host_array<float>& h) {
#ifdef FERRY_WRONG
  return a.at(0);
#endif
  return ferry::to_vector(a).at(0) + h.at(0);
}
