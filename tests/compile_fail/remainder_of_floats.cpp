// expect: this operation is not defined for elements of this type
// lines: 14
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = x % 2;
#endif
  y = ferry::fmod(x, 2);
}
