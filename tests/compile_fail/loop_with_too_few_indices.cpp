// expect: the functor takes another number of arguments
// lines: 12
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct clear {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, std::size_t l,
                                    ferry::mdspan<float, 4> a) const {
    a(i, j, k, l) = 0;
  }
};
struct clear_three {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, ferry::mdspan<float, 4> a) const {
    a(i, j, k, 0) = 0;
  }
};
}  // namespace

void call(ferry::device_array<float, 4>& a) {
  ferry::parallel_for(a.extents(), clear{}, a);
#ifdef FERRY_WRONG
  ferry::parallel_for(a.extents(), clear_three{}, a);
#endif
}
