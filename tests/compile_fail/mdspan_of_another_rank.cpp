// expect: declare the parameter with the rank of the array
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct set {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::mdspan<float, 1> y) const { y[i] = 1; }
};
}  // namespace

void call(ferry::unified_array<float, 2>& y) {
  ferry::parallel_for(y.size(), set{}, y.reshape(ferry::extents<1>(y.size())));
#ifdef FERRY_WRONG
  ferry::parallel_for(y.size(), set{}, y);
#endif
}
