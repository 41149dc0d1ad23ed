// expect: pass in\(a\), or declare the parameter's elements non-const
// lines: 10
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct value {
  FERRY_HOST_DEVICE float operator()(std::size_t i, ferry::shard_span<const float, 1> a) const { return a(i); }
};
}  // namespace

float call(ferry::sharded_array<float, 1>& a) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(owned(a), value{}, ferry::plus{}, ferry::out(a));
#endif
  return ferry::parallel_reduce(owned(a), value{}, ferry::plus{}, ferry::in(a));
}
