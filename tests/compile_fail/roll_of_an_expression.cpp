// expect: evaluate the expression first
#include <ferry/ferry.hpp>

void call(ferry::device_array<float>& a) {
#ifdef FERRY_WRONG
  a = ferry::roll(2.f * a, 1);
#endif
  a = 2.f * ferry::roll(a, 1);
}
