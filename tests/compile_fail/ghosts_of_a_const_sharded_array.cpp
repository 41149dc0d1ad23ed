// expect: fill\(ghosts\(a, side\), condition\) writes to the array, and it is const
// lines: 14
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
  ferry::fill(ferry::ghosts(u, ferry::all_sides), ferry::zero_gradient{});
#ifdef FERRY_WRONG
  ferry::fill(ferry::ghosts(std::as_const(u), ferry::all_sides), ferry::zero_gradient{});
#endif
}
