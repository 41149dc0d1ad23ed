// expect: return a value from the functor
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct value {
#ifdef FERRY_WRONG
  FERRY_HOST_DEVICE void operator()(std::size_t, const float*) const {}
#else
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
#endif
};
}  // namespace

float call(ferry::unified_array<float>& x) { return ferry::parallel_reduce(x.size(), value{}, ferry::plus{}, x); }
