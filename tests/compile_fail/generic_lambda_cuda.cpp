// expect: __host__ __device__ extended lambdas cannot be generic lambdas
// lines: 10
// with: core
#include <ferry/core.hpp>

// nvcc itself refuses it where it is written, before any ferry code.
void call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::parallel_for(
      y.size(), [] FERRY_HOST_DEVICE(std::size_t i, auto p) { p[i] = 1; }, y);
#endif
  (void)y.size();
}
