// expect: fill\(ghosts\(a, side\), fixed_value{x}\): x does not convert to an element of the array
// lines: 14
// with: core
#include <complex>
#include <ferry/core.hpp>

void call(ferry::device_array<float, 2>& u) {
  ferry::fill(ferry::ghosts(u, ferry::all_sides, 1), ferry::fixed_value{1.});
#ifdef FERRY_WRONG
  ferry::fill(ferry::ghosts(u, ferry::all_sides, 1), ferry::fixed_value{std::complex<float>(1, 2)});
#endif
}
