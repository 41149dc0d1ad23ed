// expect: this source is compiled as plain C\+\+, but ferry was built with CUDA.*define the functor by FERRY_FUNCTOR, or write the function as FERRY_FUNCTION
// with: core
#undef FERRY_HAS_CUDA
#define FERRY_HAS_CUDA 1
#include <ferry/core.hpp>

namespace {
struct twice {
  FERRY_HOST_DEVICE float operator()(float x) const { return 2 * x; }
};
FERRY_FUNCTION(float, three_times, (float x), { return 3 * x; });
}  // namespace

void call(ferry::unified_array<float>& y) {
  ferry::transform(ferry::out(y), three_times, ferry::in(y));
#ifdef FERRY_WRONG
  ferry::transform(ferry::out(y), twice{}, ferry::in(y));
#endif
}
