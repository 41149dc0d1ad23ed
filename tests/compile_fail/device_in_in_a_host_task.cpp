// expect: copy the array to a ferry::host_array and pass that, or make it a ferry::unified_array
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::device_array<float>& y, ferry::host_array<float>& h) {
  ferry::host_task(
      s, [](const float*, float*) {}, ferry::in(h), ferry::out(h));
  ferry::submit(
      s, [](ferry::native_stream, const float*, float*) {}, ferry::in(y), ferry::out(y));
#ifdef FERRY_WRONG
  ferry::host_task(
      s, [](const float*, float*) {}, ferry::in(h), ferry::out(y));
#endif
}
