// expect: a borrowed pointer belongs to its lender and cannot be freed
// with: core
#include <ferry/core.hpp>

void call(float* p) {
  auto v = ferry::borrow(p, 100);
#ifdef FERRY_WRONG
  v.free();
#endif
}
