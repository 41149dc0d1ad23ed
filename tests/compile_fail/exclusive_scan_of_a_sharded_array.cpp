// expect: exclusive scans and histograms take elements of one device
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 1>& y) {
#ifdef FERRY_WRONG
  (void)ferry::exclusive_scan(y, ferry::plus{}, 0, 0.f);
#endif
  y = ferry::cumsum(y);
}
