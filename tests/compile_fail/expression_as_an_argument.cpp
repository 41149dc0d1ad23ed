// expect: compute the expression before the call, and pass the result
// lines: 12
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace fr = ferry;

namespace {
struct add_value {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y, fr::mdspan<const float, 0> v) const { y[i] += v(); }
};
}  // namespace

void call(fr::unified_array<float>& y, const fr::scalar<float>& a) {
  const fr::scalar<float> s = fr::max(a, 1.f);
  fr::parallel_for(10, add_value{}, y, s);
#ifdef FERRY_WRONG
  fr::parallel_for(10, add_value{}, y, fr::max(a, 1.f));
#endif
}
