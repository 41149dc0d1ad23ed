// expect: join the outer dimensions of the index space into one
// lines: 10
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct value {
  template <class... Index>
  FERRY_HOST_DEVICE float operator()(Index...) const {
    return 1;
  }
};
}  // namespace

void call() {
  ferry::parallel_for(ferry::extents(4 * 5, 6, 7), value{});
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::extents(4, 5, 6, 7), value{});
#endif
}
