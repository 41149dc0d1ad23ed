// expect: copy the array to a ferry::host_array and pass that, or make it a ferry::unified_array
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::device_array<float>& y, ferry::host_array<float>& h) {
  ferry::host_task(
      s, [](const float*) {}, h);
  ferry::parallel_for(
      s, 1, [](std::size_t, const float*) {}, y);
#ifdef FERRY_WRONG
  ferry::host_task(
      s, [](const float*) {}, y);
#endif
}
