// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#include <ferry/core.hpp>

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] = 2 * x[i]; }
};
}  // namespace

void call(ferry::unified_array<float>& x, ferry::unified_array<float>& y) {
  ferry::parallel_for(x.size(), scale{}, ferry::in(x), ferry::out(y));
#ifdef FERRY_WRONG
  ferry::parallel_for(x.size(), scale{}, ferry::in(x), ferry::in(y));
#endif
}
