// expect: read-only|the view is read-only
// with: core
#include <ferry/core.hpp>

void call(const std::vector<float>& v, ferry::device_array<float>& a) {
  auto p = ferry::pin(v);
  ferry::copy(p, a);
#ifdef FERRY_WRONG
  ferry::copy(a, p);
#endif
}
