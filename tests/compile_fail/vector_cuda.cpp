// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
// with: core
#include <ferry/core.hpp>
#include <vector>

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] = 2 * x[i]; }
};
}  // namespace

void call(std::vector<float>& v, ferry::unified_array<float>& y) {
  ferry::parallel_for(y.size(), scale{}, y, y);
#ifdef FERRY_WRONG
  ferry::parallel_for(y.size(), scale{}, v, y);
#endif
  v.clear();
}
