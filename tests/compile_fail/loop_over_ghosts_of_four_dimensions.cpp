// expect: join the outer dimensions of the index space into one
// lines: 14
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct clear {
  template <class... Index>
  FERRY_HOST_DEVICE void operator()(Index...) const {}
};
}  // namespace

void call(ferry::device_array<float, 3>& u, ferry::device_array<float, 4>& v) {
  ferry::parallel_for(ferry::ghosts(u, ferry::all_sides, 1), clear{});
  ferry::fill(ferry::ghosts(v, ferry::all_sides, 1), ferry::fixed_value{0});
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::ghosts(v, ferry::all_sides, 1), clear{});
#endif
}
