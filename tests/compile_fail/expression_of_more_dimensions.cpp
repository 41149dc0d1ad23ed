// expect: more dimensions than the destination
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float, 2>& m, ferry::device_array<float>& y, ferry::device_array<float, 2>& z) {
#ifdef FERRY_WRONG
  y = m + y;
#endif
  z = m + y;
}
