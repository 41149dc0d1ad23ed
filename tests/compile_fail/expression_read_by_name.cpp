// expect: write scalar<T> s = e, and use s
// with: core
#include <ferry/core.hpp>

namespace fr = ferry;

float call(const fr::scalar<float>& a) {
  const auto m = fr::max(a, 1.f);
#ifdef FERRY_WRONG
  const float one = m;
#endif
  const fr::scalar<float> s = m;
  const float now = fr::max(a, 1.f);  // without a name it is computed here
  return s + now;
}
