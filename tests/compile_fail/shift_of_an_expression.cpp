// expect: assign the expression to one first
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  u = ferry::shift(u + 1, {1, 0});
#endif
  u = ferry::shift(u, {1, 0}) + 1;
}
