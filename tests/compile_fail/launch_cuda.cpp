// expect: pass one argument for each parameter .*the functor takes another number of arguments
// lines: 10
// with: core
#include <ferry/core.hpp>

namespace {
__global__ void kernel(const float*, float*, std::size_t) {}
}  // namespace

void call(ferry::stream& s, const ferry::device_array<float>& x, ferry::device_array<float>& y) {
  ferry::launch(s, {1, 32}, kernel, x, ferry::out(y), y.size());
#ifdef FERRY_WRONG
  ferry::launch(s, {1, 32}, kernel, x, ferry::out(y));
#endif
}
