// expect: copy\(from, to\): the element types differ
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::unified_array<float>& y, ferry::unified_array<double>& z) {
  ferry::copy(x, y);
#ifdef FERRY_WRONG
  ferry::copy(x, z);
#endif
  ferry::fill(z, 1);
}
