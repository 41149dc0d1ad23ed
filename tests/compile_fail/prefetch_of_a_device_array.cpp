// expect: only the pages of a ferry::unified_array can be moved
// with: unified
#include <ferry/unified.hpp>

void use(ferry::device_array<float>& a) {
#ifdef FERRY_WRONG
  ferry::prefetch(a, ferry::host);
#endif
  (void)a;
}
