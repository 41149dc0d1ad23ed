// expect: the condition is fixed_value{x}, zero_gradient{}, reflecting{} or periodic{}; for others, loop over the ghost
// lines: 14
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<float, 2>& u) {
  ferry::fill(ferry::ghosts(u, ferry::all_sides, 1), ferry::fixed_value{0});
#ifdef FERRY_WRONG
  ferry::fill(ferry::ghosts(u, ferry::all_sides, 1), 0.f);
#endif
}
