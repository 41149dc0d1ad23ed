// expect: fill\(view, value\): the view is read-only
// with: core
#include <ferry/core.hpp>

void call(ferry::unified_array<float>& y) {
  ferry::fill(y.slice({0, 10}), 1);
#ifdef FERRY_WRONG
  ferry::fill(std::as_const(y).slice({0, 10}), 1);
#endif
}
