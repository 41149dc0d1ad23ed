// expect: expressions take elements of type bool
// lines: 12
// with: core
#include <ferry/core.hpp>

struct point {
  float x, y;
};

void call(const ferry::device_array<point>& p, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = y + p;
#endif
  y = y + 1;
  (void)p;
}
