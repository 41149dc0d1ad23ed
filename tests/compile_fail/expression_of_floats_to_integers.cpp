// expect: floating point numbers are assigned to integers: convert them by ferry::cast<int>
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<int>& y) {
#ifdef FERRY_WRONG
  y = x * 2;
#endif
  y = ferry::cast<int>(x * 2);
}
