// expect: inout\(view\): the view is read-only
// with: core
#include <ferry/core.hpp>

auto call(ferry::unified_array<float>& y) {
#ifdef FERRY_WRONG
  auto part = std::as_const(y).slice({0, 10});
#else
  auto part = y.slice({0, 10});
#endif
  return ferry::inout(part).mode;
}
