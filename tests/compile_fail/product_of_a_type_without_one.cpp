// expect: plus and multiplies have no identity for this type: write a functor
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace {
struct vec {
  float x, y;
  FERRY_HOST_DEVICE friend vec operator*(const vec& a, const vec& b) { return {a.x * b.x, a.y * b.y}; }
};
struct element {
  FERRY_HOST_DEVICE vec operator()(std::size_t i, const vec* v) const { return v[i]; }
};
struct times {
  FERRY_HOST_DEVICE vec operator()(const vec& a, const vec& b) const { return a * b; }
  template <class T>
  static T identity() {
    return {1, 1};
  }
};
}  // namespace

float call(ferry::unified_array<vec>& v) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(v.size(), element{}, ferry::multiplies{}, v).value().x;
#else
  return ferry::parallel_reduce(v.size(), element{}, times{}, v).value().x;
#endif
}
