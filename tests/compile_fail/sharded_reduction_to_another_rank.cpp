// expect: the result of the reduction has another rank
// lines: 12
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  u = ferry::sum(u, ferry::axes{0});
#endif
  u = ferry::sum(u, ferry::axes{0}, ferry::keep_dims) + u;
}
