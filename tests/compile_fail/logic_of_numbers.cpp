// expect: this operation is not defined for elements of this type
// lines: 14
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<bool>& y) {
#ifdef FERRY_WRONG
  y = x && y;
#endif
  y = x != 0 && y;
}
