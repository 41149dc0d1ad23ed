// expect: a number is set by ferry::assign\(a, 0\.0\)
#include <ferry/ferry.hpp>

void call(ferry::device_array<float, 2>& a) {
  auto part = a.slice({{0, 1}});
#ifdef FERRY_WRONG
  part = 1;
#endif
  ferry::assign(part, 1);
}
