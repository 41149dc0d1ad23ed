// expect: copy\(from, to\): the destination is read-only
// with: core
#include <ferry/core.hpp>

void call(const std::vector<float>& x, ferry::unified_array<float>& y) {
  ferry::copy(x, y.slice({0, 10}));
#ifdef FERRY_WRONG
  ferry::copy(x, std::as_const(y).slice({0, 10}));
#endif
}
