// expect: a complex expression is assigned to real elements
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<std::complex<float>>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = x * 2;
#endif
  y = ferry::real(x * 2);
}
