// expect: mark the lambda FERRY_HOST_DEVICE and declare the types of its parameters
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::unified_array<float>& y) {
  ferry::parallel_for(
      y.size(), [] FERRY_HOST_DEVICE(std::size_t i, float* p) { p[i] = 1; }, y);
#ifdef FERRY_WRONG
  ferry::parallel_for(
      y.size(), [](std::size_t i, float* p) { p[i] = 1; }, y);
#endif
}
