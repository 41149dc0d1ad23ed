// expect: a device array cannot be touched by the CPU: copy it with ferry::to_vector
// with: core
#include <ferry/core.hpp>

float first(const ferry::device_array<float>& a, const ferry::unified_array<float>& u) {
#ifdef FERRY_WRONG
  return ferry::const_host_span(a)[0];
#endif
  return ferry::const_host_span(u)[0] + ferry::to_vector(a)[0];
}
