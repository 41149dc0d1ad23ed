// expect: numbers are assigned to bool elements
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<bool>& y) {
#ifdef FERRY_WRONG
  y = x + 1;
#endif
  y = x + 1 != 0;
}
