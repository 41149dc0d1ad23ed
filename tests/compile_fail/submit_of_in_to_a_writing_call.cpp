// expect: pass inout\(a\) or out\(a\), or declare the parameter const: in given to a writing functor
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::device_array<float>& y) {
  ferry::submit(
      s, [](ferry::native_stream, const float*) {}, ferry::in(y));
#ifdef FERRY_WRONG
  ferry::submit(
      s, [](ferry::native_stream, float*) {}, ferry::in(y));
#endif
}
