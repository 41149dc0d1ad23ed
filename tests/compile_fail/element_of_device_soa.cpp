// expect: a device array cannot be touched by the CPU
// with: core
#include <ferry/core.hpp>

void call(ferry::device_soa<float, int>& p) {
  p.resize(3);
#ifdef FERRY_WRONG
  for (auto [x, number] : p) x = 1;
#endif
}
