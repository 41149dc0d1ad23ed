// expect: evaluate the expression first
#include <ferry/ferry.hpp>

void call(ferry::device_array<float>& a) {
#ifdef FERRY_WRONG
  a = ferry::concatenate(0, a, a + a);
#endif
  a = ferry::concatenate(0, a, ferry::evaluate(a + a));
}
