// expect: declare the parameter as a soa_span of the members
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
  ferry::parallel_for(q.size(), move{}, ferry::inout(q));
#endif
}
