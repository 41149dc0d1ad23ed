// expect: this source is compiled as plain C\+\+, but ferry was built with CUDA.*ferry_add_executable\(\)
// with: core
#undef FERRY_HAS_CUDA
#define FERRY_HAS_CUDA 1
#include <ferry/core.hpp>

namespace {
struct set {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y) const { y[i] = 1; }
};
}  // namespace

void call(ferry::unified_array<float>& y) {
  ferry::fill(y, 1);
#ifdef FERRY_WRONG
  ferry::parallel_for(10, set{}, y);
#endif
}
