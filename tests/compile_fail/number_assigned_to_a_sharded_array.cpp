// expect: a number is set by ferry::assign\(u, 0\.0\)
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  u = 0.0;
#endif
  ferry::assign(u, 0.0);
}
