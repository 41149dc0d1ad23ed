// expect: join the outer dimensions of the index space into one
// lines: 12
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct nothing {
  template <class... Index>
  FERRY_HOST_DEVICE void operator()(Index...) const {}
};
}  // namespace

void call(const ferry::team& t) {
  ferry::parallel_for(ferry::each_member(t, {4, 5, 6, 7, 8, 9}), nothing{});
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::each_member(t, {4, 5, 6, 7, 8, 9, 10}), nothing{});
#endif
}
