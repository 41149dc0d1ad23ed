// expect: floating point numbers are assigned to integers
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<int>& y) {
#ifdef FERRY_WRONG
  y *= 0.5;
#endif
  y *= 2;
}
