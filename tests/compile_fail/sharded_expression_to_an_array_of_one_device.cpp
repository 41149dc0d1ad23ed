// expect: use a sharded array, then ferry::copy
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::device_array<float, 2>& x) {
#ifdef FERRY_WRONG
  x = u + 1;
#endif
  ferry::copy(u, x);
}
