// expect: pass the team and the distribution
// lines: 20
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

}  // namespace

void call(const state<ferry::host_array>& s, const ferry::team& t) {
  (void)ferry::adapt<ferry::device_sharded_array>(t, {}, s);
#ifdef FERRY_WRONG
  (void)ferry::adapt<ferry::device_sharded_array>(s);
#endif
}
