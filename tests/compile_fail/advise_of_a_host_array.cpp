// expect: only the pages of a ferry::unified_array can be moved
// with: unified
#include <ferry/unified.hpp>

void use(ferry::host_array<float>& a) {
#ifdef FERRY_WRONG
  ferry::advise(a, ferry::advice::read_mostly);
#endif
  (void)a;
}
