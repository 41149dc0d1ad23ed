// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct three {
  FERRY_HOST_DEVICE std::size_t size() const { return 3; }
};
struct set_span {
  template <class Y, class Values>
  FERRY_HOST_DEVICE void operator()(std::size_t i, Y y, const Values& v) const {
    y[i] = static_cast<float>(v.size());
  }
};
}  // namespace

void call(ferry::unified_array<float>& y) {
  ferry::parallel_for(10, set_span{}, y, three{});
#ifdef FERRY_WRONG
  ferry::parallel_for(10, set_span{}, y, std::vector<float>(3));
#endif
}
