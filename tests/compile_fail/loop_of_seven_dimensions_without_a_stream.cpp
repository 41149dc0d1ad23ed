// expect: a loop has at most 6 dimensions
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct value {
  template <class... Index>
  FERRY_HOST_DEVICE float operator()(Index...) const {
    return 1;
  }
};
}  // namespace

void call() {
  ferry::parallel_for({4, 5, 6, 7, 8, 9}, value{});
#ifdef FERRY_WRONG
  ferry::parallel_for({4, 5, 6, 7, 8, 9, 10}, value{});
#endif
}
