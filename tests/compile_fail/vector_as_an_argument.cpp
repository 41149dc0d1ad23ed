// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>
#include <vector>

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] = 2 * x[i]; }
};
}  // namespace

void call(std::vector<float>& v, ferry::unified_array<float>& y) {
  ferry::parallel_for(y.size(), scale{}, ferry::as_unified(v), y);
#ifdef FERRY_WRONG
  ferry::parallel_for(y.size(), scale{}, v, y);
#endif
}
