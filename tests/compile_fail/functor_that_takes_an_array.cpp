// expect: declare the functor's parameters as the call passes them
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct set {
#ifdef FERRY_WRONG
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::unified_array<float>& y) const { y[i] = 1; }
#else
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::mdspan<float, 1> y) const { y[i] = 1; }
#endif
};
}  // namespace

void call(ferry::unified_array<float>& y) { ferry::parallel_for(y.size(), set{}, y); }
