// expect: the result of the scan has another rank than the destination
// lines: 16
#include <ferry/ferry.hpp>

void call(const ferry::sharded_array<float, 2>& u, ferry::sharded_array<float, 1>& y,
          ferry::sharded_array<float, 2>& z) {
#ifdef FERRY_WRONG
  y = ferry::exclusive_scan(u, ferry::plus{}, 0);
#endif
  y = ferry::sum(u, ferry::axes{1});
  z = ferry::exclusive_scan(u, ferry::plus{}, 0);
}
