// expect: mark the lambda FERRY_HOST_DEVICE and declare the types of its parameters, none as auto
// lines: 10
// with: core
#include <ferry/core.hpp>

float call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(
      y.size(), [](std::size_t i, auto p) { return p[i]; }, ferry::plus{}, y);
#endif
  return ferry::parallel_reduce(
      y.size(), [] FERRY_HOST_DEVICE(std::size_t i, const float* p) { return p[i]; }, ferry::plus{}, y);
}
