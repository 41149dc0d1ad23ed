// expect: declare the functor's call operator const, and a lambda without mutable
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

float call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  return ferry::parallel_reduce(
      y.size(), [n = 0](auto, auto) mutable { return ++n; }, ferry::plus{}, y);
#else
  return ferry::parallel_reduce(
      y.size(), [n = 0](auto, auto) { return n; }, ferry::plus{}, y);
#endif
}
