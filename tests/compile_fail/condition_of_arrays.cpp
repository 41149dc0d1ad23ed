// expect: a condition is one value: use all_equal\(a, b\), all\(a == b\), any\(a == b\)
// with: core
#include <ferry/core.hpp>

bool call(const ferry::device_array<float>& a, const ferry::device_array<float>& b) {
#ifdef FERRY_WRONG
  if (a == b) return true;
#endif
  return ferry::all_equal(a, b);
}
