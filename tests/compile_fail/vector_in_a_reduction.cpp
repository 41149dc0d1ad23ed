// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>
#include <vector>

namespace {
struct value {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
};
}  // namespace

float call(std::vector<float>& v, ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(v.size(), value{}, ferry::plus{}, v);
#endif
  return ferry::parallel_reduce(v.size(), value{}, ferry::plus{}, y);
}
