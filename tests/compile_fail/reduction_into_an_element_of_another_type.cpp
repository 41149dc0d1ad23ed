// expect: the element has another type than the result
// lines: 16
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct value {
  FERRY_HOST_DEVICE int operator()(std::size_t i) const { return static_cast<int>(i); }
};
}  // namespace

void call(ferry::device_array<std::int64_t>& counts, ferry::device_array<int>& y) {
  ferry::parallel_reduce_into(ferry::element(counts, 3), 10, value{}, ferry::plus{});
  ferry::parallel_reduce_into(ferry::element(y, 3), 10, value{}, ferry::maximum{});
#ifdef FERRY_WRONG
  ferry::parallel_reduce_into(ferry::element(y, 3), 10, value{}, ferry::plus{});
#endif
}
