// expect: mark the lambda FERRY_HOST_DEVICE instead of __device__
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::parallel_for(
      y.size(), [] __device__(std::size_t i, float* p) { p[i] = 1; }, y);
#endif
  (void)y.size();
}
