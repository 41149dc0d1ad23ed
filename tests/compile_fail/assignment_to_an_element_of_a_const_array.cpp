// expect: the destination of an assignment is const
// lines: 16
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<double>& y, const ferry::device_array<double>& x) {
  ferry::element(y, 3) = 2;
#ifdef FERRY_WRONG
  ferry::element(x, 3) = 2;
#endif
  (void)x.size();
}
