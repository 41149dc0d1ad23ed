// expect: one distance for each axis of the array
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  u = ferry::shift(u, {1});
#endif
  u = ferry::shift(u, {1, 0});
}
