// expect: declare the functor's parameters as the call passes them
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct add {
#ifdef FERRY_WRONG
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x, float& total) const { return total += x[i]; }
#else
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x, const float& total) const { return total + x[i]; }
#endif
};
}  // namespace

float call(ferry::unified_array<float>& x) {
  float total = 0;
  return ferry::parallel_reduce(x.size(), add{}, ferry::plus{}, x, total);
}
