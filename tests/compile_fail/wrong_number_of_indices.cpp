// expect: pass one argument for each parameter .*the functor takes another number of arguments than the call gives it
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct set {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::mdspan<float, 2> y) const { y(i, j) = 1; }
};
}  // namespace

void call(ferry::unified_array<float, 2>& y) {
  ferry::parallel_for(y.extents(), set{}, y);
#ifdef FERRY_WRONG
  ferry::parallel_for(y.size(), set{}, y);
#endif
}
