// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct set {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::mdspan<float, 1> y) const { y[i] = 1; }
};
}  // namespace

void call(ferry::unified_array<float>& y) {
  ferry::parallel_for(10, set{}, y.slice({0, 10}));
#ifdef FERRY_WRONG
  ferry::parallel_for(10, set{}, std::as_const(y).slice({0, 10}));
#endif
}
