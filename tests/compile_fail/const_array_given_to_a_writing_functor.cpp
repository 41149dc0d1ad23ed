// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] = 2 * x[i]; }
};
}  // namespace

void call(const ferry::unified_array<float>& x, ferry::unified_array<float>& y) {
  ferry::parallel_for(x.size(), scale{}, x, y);
#ifdef FERRY_WRONG
  ferry::parallel_for(x.size(), scale{}, y, x);
#endif
}
