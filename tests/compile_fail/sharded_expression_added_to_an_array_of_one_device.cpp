// expect: elements of a sharded array are assigned to an array of one device
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::device_array<float, 2>& x) {
#ifdef FERRY_WRONG
  x += u;
#endif
  x += 1;
  u += x;
}
