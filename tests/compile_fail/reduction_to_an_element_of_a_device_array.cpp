// expect: or assign to one by ferry::element
// lines: 16
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<double>& y, const ferry::unified_array<double>& x) {
  ferry::element(y, 3) = ferry::sum(x);
#ifdef FERRY_WRONG
  y(3) = ferry::sum(x);
#endif
}
