// expect: pass in.a., or declare the parameter.s elements non-const
// lines: 10
// with: multigpu
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/multigpu.hpp>

namespace {
template <template <class, std::size_t> class A>
struct state {
  A<float, 1> x, y;
  FERRY_MEMBERS(x, y);
};
using shards = state<ferry::device_sharded_array>;
struct look {
  FERRY_HOST_DEVICE void operator()(std::size_t, state<ferry::const_shard_span>) const {}
};
}  // namespace

void call(shards& s) {
  ferry::parallel_for(ferry::owned(s.x), look{}, s);
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::owned(s.x), look{}, ferry::out(s));
#endif
}
