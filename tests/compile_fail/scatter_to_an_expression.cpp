// expect: stored in an array or a view
#include <ferry/ferry.hpp>

void call(ferry::device_array<float>& a, ferry::device_array<int>& i) {
#ifdef FERRY_WRONG
  ferry::scatter(a + a, i, 1.f);
#endif
  ferry::scatter(a, i, 1.f);
}
