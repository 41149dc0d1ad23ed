// expect: the destination of an assignment is const, or a view of const elements
// lines: 20
// with: core
#include <ferry/core.hpp>

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::assign(x, y + 1);
#endif
  ferry::assign(y, x + 1);
}
