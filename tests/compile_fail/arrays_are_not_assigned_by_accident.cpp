// expect: deleted.*use copy.a, b
// with: core
#include <ferry/core.hpp>

void take(const ferry::unified_array<float>& a, ferry::unified_array<float>& b) {
#ifdef FERRY_WRONG
  b = a;
#endif
  ferry::copy(a, b);
}
