// expect: of complex elements to real ones: use real
// lines: 12
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<std::complex<double>>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = ferry::cast<float>(x);
#endif
  y = ferry::cast<float>(ferry::abs(x));
}
