// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>
#include <vector>

namespace {
struct add {
  FERRY_HOST_DEVICE float operator()(std::size_t i, ferry::shard_span<float, 1> a, const float* x) const {
    return a(i) += x[0];
  }
};
}  // namespace

float call(std::vector<float>& v, ferry::sharded_array<float, 1>& a) {
  ferry::parallel_for(sweep(a), add{}, a, ferry::as_unified(v));
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(sweep(a), add{}, ferry::plus{}, a, v);
#endif
  return 0;
}
