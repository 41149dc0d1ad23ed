// expect: scans and histograms take elements of one device
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 1>& y) {
#ifdef FERRY_WRONG
  (void)ferry::cumsum(y);
#endif
  y = ferry::sum(y) + y;
}
