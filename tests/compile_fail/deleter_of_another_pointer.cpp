// expect: is called as deleter.pointer. or deleter.pointer, ferry::stream_ref.
// with: core
#include <ferry/core.hpp>

void call(float* p) {
  auto a = ferry::adopt(p, 100, [](float*) {});
#ifdef FERRY_WRONG
  auto b = ferry::adopt(p, 100, [](int*) {});
#endif
}
