// expect: join the outer dimensions of the index space into one
// lines: 10
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct touch {
  template <class... Any>
  FERRY_HOST_DEVICE void operator()(const Any&...) const {}
};
}  // namespace

void call(ferry::sharded_array<float, 3>& a, ferry::sharded_array<float, 4>& b) {
  ferry::parallel_for(owned(a), touch{}, a);
#ifdef FERRY_WRONG
  ferry::parallel_for(owned(b), touch{}, b);
#endif
  (void)b.size();
}
