// expect: declare the parameter with the array's type, or copy\(\) the array
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include "clear_bytes.hpp"

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::mdspan<const float, 1> x, ferry::mdspan<float, 1> y) const {
    y[i] = 2 * x[i];
  }
};
}  // namespace

void call(ferry::unified_array<double>& x, ferry::unified_array<float>& y) {
  ferry::parallel_for(y.size(), scale{}, ferry::in(y), ferry::out(y));
  ferry::parallel_for(y.size_bytes(), clear_bytes{}, ferry::out(y));
#ifdef FERRY_WRONG
  ferry::parallel_for(x.size(), scale{}, ferry::in(x), ferry::out(y));
#endif
}
