// expect: compute the expression before the call, and pass the result: ferry::scalar<T> s = e
// lines: 12
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace fr = ferry;

namespace {
struct add_value {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y, float v) const { y[i] += v; }
};
}  // namespace

void call(fr::unified_array<float>& y) {
  fr::parallel_for(10, add_value{}, y, float(fr::sum(y)));
#ifdef FERRY_WRONG
  fr::parallel_for(10, add_value{}, y, fr::sum(y));
#endif
}
