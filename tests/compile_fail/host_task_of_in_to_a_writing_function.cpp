// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::unified_array<float>& y) {
  ferry::host_task(
      s, [](const float*) {}, ferry::in(y));
#ifdef FERRY_WRONG
  ferry::host_task(
      s, [](float*) {}, ferry::in(y));
#endif
}
