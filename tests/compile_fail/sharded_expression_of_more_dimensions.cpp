// expect: more dimensions than the destination
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::sharded_array<float, 1>& y) {
#ifdef FERRY_WRONG
  y = u + 1;
#endif
  u = y + 1;
}
