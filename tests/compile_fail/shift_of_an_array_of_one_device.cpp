// expect: takes a sharded array
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::device_array<float, 2>& x) {
#ifdef FERRY_WRONG
  u = ferry::shift(x, {1, 0});
#endif
  u = ferry::roll(x, 1, 0) + u;
}
