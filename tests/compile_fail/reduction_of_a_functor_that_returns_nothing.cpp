// expect: the functor of a reduction returns nothing: return the value of the index
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct twice {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* x) const { return 2 * x[i]; }
};
struct nothing {
  FERRY_HOST_DEVICE void operator()(std::size_t, const double*) const {}
};
}  // namespace

void call(ferry::unified_array<double>& x) {
  ferry::parallel_reduce(x.size(), twice{}, ferry::plus{}, x);
#ifdef FERRY_WRONG
  ferry::parallel_reduce(x.size(), nothing{}, ferry::plus{}, x);
#endif
}
