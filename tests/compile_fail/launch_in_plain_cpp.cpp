// expect: ferry::launch runs __global__ functions: compile this source as CUDA
// with: core
#include <ferry/core.hpp>

void kernel(float*, std::size_t) {}

void call(ferry::stream& s, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::launch(s, {1, 32}, kernel, y, y.size());
#endif
  ferry::submit(
      s, [](ferry::native_stream, float*) {}, y);
}
