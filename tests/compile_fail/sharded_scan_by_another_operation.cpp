// expect: scans take the operations plus, multiplies, minimum and maximum
// lines: 40
#include <ferry/ferry.hpp>

void call(const ferry::sharded_array<float, 1>& u, ferry::sharded_array<float, 1>& y) {
#ifdef FERRY_WRONG
  y = ferry::exclusive_scan(u, ferry::minimum_number{}, 0, 1.f);
#endif
  y = ferry::exclusive_scan(u, ferry::minimum{}, 0, 1.f);
}
