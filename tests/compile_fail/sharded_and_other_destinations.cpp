// expect: assign others in a call of their own
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::device_array<float, 2>& x) {
#ifdef FERRY_WRONG
  ferry::assign(u, 1, x, 2);
#endif
  ferry::assign(u, 1), ferry::assign(x, 2);
}
