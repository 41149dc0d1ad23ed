// expect: complex elements for a real parameter: pass real\(e\), imag\(e\) or abs\(e\)
// lines: 12
// with: core
#include <ferry/core.hpp>

FERRY_FUNCTION(float, square, (float x), { return x * x; });

void call(const ferry::device_array<std::complex<float>>& z, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  y = square(z);
#endif
  y = square(ferry::real(z));
}
