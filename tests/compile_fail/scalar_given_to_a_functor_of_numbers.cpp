// expect: declare the parameter as ferry::mdspan<const T, 0> v, and read v\(\), or pass T\(s\)
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

void call(fr::unified_array<float>& y, const fr::scalar<float>& s) {
  fr::parallel_for(10, add_value{}, y, float(s));
#ifdef FERRY_WRONG
  fr::parallel_for(10, add_value{}, y, s);
#endif
}
