// expect: a number is set by ferry::assign\(a, 0\.0\)
#include <ferry/ferry.hpp>

void call(ferry::device_array<float, 2>& a) {
#ifdef FERRY_WRONG
  a = 0.0;
#endif
  ferry::assign(a, 0.0);
}
