// expect: pass one argument for each parameter
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::host_array<float>& y) {
  ferry::host_task(
      s, [](float*) {}, y);
#ifdef FERRY_WRONG
  ferry::host_task(
      s, [](ferry::native_stream, float*) {}, y);
#endif
}
