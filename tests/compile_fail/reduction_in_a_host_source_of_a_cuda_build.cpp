// expect: this source is compiled as plain C\+\+, but ferry was built with CUDA.*ferry_add_executable\(\)
// with: core
#undef FERRY_HAS_CUDA
#define FERRY_HAS_CUDA 1
#include <ferry/core.hpp>

namespace {
struct value {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* y) const { return y[i]; }
};
}  // namespace

float call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(10, value{}, ferry::plus{}, y);
#endif
  return y[0];
}
