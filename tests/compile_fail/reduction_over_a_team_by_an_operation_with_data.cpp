// expect: the operation of a reduction over a team holds no data
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/ferry.hpp>

namespace {
struct cell {
  FERRY_HOST_DEVICE double operator()(std::size_t i, ferry::shard_span<const double, 1> a) const { return a(i); }
};
struct add {
  FERRY_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
  template <class T>
  static T identity() {
    return 0;
  }
};
struct add_weighted {
  double weight = 1;
  FERRY_HOST_DEVICE double operator()(double a, double b) const { return a + weight * b; }
  template <class T>
  static T identity() {
    return 0;
  }
};
}  // namespace

double call(const ferry::sharded_array<double, 1>& a) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(ferry::owned(a), cell{}, add_weighted{2}, a);
#else
  return ferry::parallel_reduce(ferry::owned(a), cell{}, add{}, a);
#endif
}
