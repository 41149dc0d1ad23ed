// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float sum(const ferry::device_array<float>& a, const ferry::host_array<float>& h) {
  float s = 0;
#ifdef FERRY_WRONG
  for (const float x : a) s += x;
#endif
  for (const float x : h) s += x;
  for (const float x : ferry::to_vector(a)) s += x;
  return s;
}
