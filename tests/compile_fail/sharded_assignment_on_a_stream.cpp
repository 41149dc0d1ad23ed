// expect: members use their own streams: assign\(y, e\)
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::device_array<float, 2>& x, const ferry::stream& s) {
#ifdef FERRY_WRONG
  ferry::assign(s, u, 1);
#endif
  ferry::assign(s, x, 1), ferry::assign(u, 1);
}
