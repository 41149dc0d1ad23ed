// expect: the element is read-only
// lines: 16
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct value {
  FERRY_HOST_DEVICE double operator()(std::size_t i) const { return static_cast<double>(i); }
};
}  // namespace

void call(ferry::device_array<double>& y, const ferry::device_array<double>& x) {
  ferry::parallel_reduce_into(ferry::element(y, 3), 10, value{}, ferry::plus{});
#ifdef FERRY_WRONG
  ferry::parallel_reduce_into(ferry::element(x, 3), 10, value{}, ferry::plus{});
#endif
  (void)x.size();
}
