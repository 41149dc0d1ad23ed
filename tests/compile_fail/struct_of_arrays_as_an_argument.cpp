// expect: pass the arrays of a struct one by one, or as a ferry::soa
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct particles {
  ferry::unified_array<float> x, v;
};
struct move {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x, const float* v) const { x[i] += v[i]; }
};
struct move_all {
  template <class P>
  FERRY_HOST_DEVICE float operator()(std::size_t i, P& p) const {
    return p.x[i] += p.v[i];
  }
};
}  // namespace

void call(particles& p) {
  ferry::parallel_for(p.x.size(), move{}, p.x, p.v);
#ifdef FERRY_WRONG
  ferry::parallel_for(p.x.size(), move_all{}, p);
#endif
}
