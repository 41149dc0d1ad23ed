// expect: minimum and maximum have no identity for this type, as it has no std::numeric_limits: write a functor
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct price {
  int cents;
  FERRY_HOST_DEVICE friend bool operator<(const price& a, const price& b) { return a.cents < b.cents; }
};
struct element {
  FERRY_HOST_DEVICE price operator()(std::size_t i, const price* p) const { return p[i]; }
};
struct lower {
  FERRY_HOST_DEVICE price operator()(const price& a, const price& b) const { return b < a ? b : a; }
  template <class T>
  static T identity() {
    return {std::numeric_limits<int>::max()};
  }
};
}  // namespace

int call(ferry::unified_array<price>& p) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(p.size(), element{}, ferry::minimum{}, p).value().cents;
#else
  return ferry::parallel_reduce(p.size(), element{}, lower{}, p).value().cents;
#endif
}
