// expect: an array of rank 0 has no sides
// lines: 14
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<float, 1>& line, ferry::device_array<float, 0>& number) {
  ferry::fill(ferry::ghosts(line, ferry::all_sides, 1), ferry::zero_gradient{});
  ferry::fill(number, 1);
#ifdef FERRY_WRONG
  ferry::fill(ferry::ghosts(number, ferry::all_sides, 1), ferry::zero_gradient{});
#endif
}
