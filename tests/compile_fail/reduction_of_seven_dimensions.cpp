// expect: join the outer dimensions of the index space into one
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

float call() {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce({4, 5, 6, 7, 8, 9, 10}, value{}, ferry::plus{});
#endif
  return ferry::parallel_reduce({4, 5, 6, 7, 8, 9}, value{}, ferry::plus{});
}
