// expect: copy\(from, to\): the element types differ
// with: core
#include <ferry/core.hpp>

struct pair {
  float a, b;
};

void call(const ferry::device_array<float>& x, ferry::unified_array<double>& y, ferry::unified_array<pair>& z) {
  ferry::copy(x, y);  // numbers are converted
#ifdef FERRY_WRONG
  ferry::copy(x, z);
#endif
  ferry::fill(z, pair{1, 2});
}
