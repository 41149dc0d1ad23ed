// expect: declare the functor's call operator const
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct count {
  int calls = 0;
  FERRY_HOST_DEVICE int operator()(std::size_t i, float* y)
#ifndef FERRY_WRONG
      const
#endif
  {
    y[i] = 1;
    return calls;
  }
};
}  // namespace

void call(ferry::unified_array<float>& y) { ferry::parallel_for(y.size(), count{}, y); }
