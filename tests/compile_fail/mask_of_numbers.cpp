// expect: the mask has elements of type bool
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = ferry::where(x, 1, y);
#endif
  y = ferry::where(x != 0, 1, y);
}
