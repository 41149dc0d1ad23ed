// expect: pass the arrays of a struct one by one, or as a ferry::soa
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct particles {
  ferry::unified_array<float> x, v;
};
struct value {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
};
}  // namespace

float call(particles& p) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(p.x.size(), value{}, ferry::plus{}, p);
#endif
  return ferry::parallel_reduce(p.x.size(), value{}, ferry::plus{}, p.x);
}
