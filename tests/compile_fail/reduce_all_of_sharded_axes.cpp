// expect: deleted function .*reduce_all
// lines: 16
#include <ferry/ferry.hpp>

void call(const ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  (void)ferry::reduce_all(ferry::sum(u), ferry::max(u, ferry::axes{0}));
#endif
  (void)ferry::reduce_all(ferry::sum(u), ferry::max(u));
}
