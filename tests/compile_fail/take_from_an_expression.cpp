// expect: evaluate the expression first
#include <ferry/ferry.hpp>

void call(ferry::device_array<float>& a, ferry::device_array<int>& i) {
#ifdef FERRY_WRONG
  a = ferry::take(a + a, i);
#endif
  a = ferry::take(ferry::evaluate(a + a), i);
}
