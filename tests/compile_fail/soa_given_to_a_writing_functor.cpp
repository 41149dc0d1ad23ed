// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct move {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::soa_span<float, const float> p) const {
    p.get<0>(i) += p.get<1>(i);
  }
};
}  // namespace

void call(ferry::unified_soa<float, float>& p, [[maybe_unused]] ferry::unified_soa<float, double>& q) {
  ferry::parallel_for(p.size(), move{}, ferry::inout(p));
#ifdef FERRY_WRONG
  ferry::parallel_for(p.size(), move{}, ferry::in(p));
#endif
}
