// expect: compute the expression before the call
// lines: 12
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace fr = ferry;

namespace {
struct add_value {
  template <class V>
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<float, 1> u, const V& v) const {
    u(i) += v(0);
  }
};
}  // namespace

void call(fr::sharded_array<float, 1>& u) {
  const fr::team_scalar<float> total = fr::sum(u);
  fr::parallel_for(fr::owned(u), add_value{}, u, total);
#ifdef FERRY_WRONG
  fr::parallel_for(fr::owned(u), add_value{}, u, fr::sum(u));
#endif
}
