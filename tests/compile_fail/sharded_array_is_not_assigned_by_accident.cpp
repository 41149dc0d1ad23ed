// expect: copied only when asked: use assign\(a, b\)
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u, ferry::sharded_array<float, 2>& v) {
#ifdef FERRY_WRONG
  v = u;
#endif
  ferry::assign(v, u);
}
