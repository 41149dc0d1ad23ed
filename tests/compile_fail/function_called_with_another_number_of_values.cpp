// expect: a FERRY_FUNCTION is called with another number of arguments than it has parameters
// lines: 12
// with: core
#include <ferry/core.hpp>

FERRY_FUNCTION(float, axpy, (float a, float x, float y), { return a * x + y; });

float call() {
#ifdef FERRY_WRONG
  return axpy(2, 1, 3, 4);
#endif
  return axpy(2, 1, 3);
}
