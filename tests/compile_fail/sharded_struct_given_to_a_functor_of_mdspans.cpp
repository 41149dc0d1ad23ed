// expect: declare the parameter as S<ferry::shard_span>
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
struct move {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<ferry::shard_span> s) const { s.x(i) += s.y(i); }
};
struct move_on_one_device {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<ferry::mdspan> s) const { s.x(i) += s.y(i); }
};
}  // namespace

void call(shards& s) {
  ferry::parallel_for(ferry::owned(s.x), move{}, ferry::inout(s));
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::owned(s.x), move_on_one_device{}, ferry::inout(s));
#endif
}
