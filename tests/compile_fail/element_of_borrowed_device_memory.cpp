// expect: a device array cannot be touched by the CPU
// with: core
#include <ferry/core.hpp>

void call(float* p) {
  auto v = ferry::borrow<ferry::memory_kind::unified>(p, 100);
  v[0] = 1;
#ifdef FERRY_WRONG
  auto w = ferry::borrow(p, 100);
  w[0] = 1;
#endif
}
