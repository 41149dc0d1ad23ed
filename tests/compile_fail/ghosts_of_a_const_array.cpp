// expect: fill\(ghosts\(a, side\), condition\) writes to the array, and it is const
// lines: 14
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<float, 2>& u) {
  ferry::fill(ferry::ghosts(u, ferry::all_sides, 1), ferry::zero_gradient{});
#ifdef FERRY_WRONG
  ferry::fill(ferry::ghosts(std::as_const(u), ferry::all_sides, 1), ferry::zero_gradient{});
#endif
}
