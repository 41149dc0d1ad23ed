// expect: a FERRY_FUNCTION is called with another number of arguments than it has parameters
// lines: 12
// with: core
#include <ferry/core.hpp>

FERRY_FUNCTION(float, axpy, (float a, float x, float y), { return a * x + y; });

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = axpy(2, x);
#endif
  y = axpy(2, x, y);
}
