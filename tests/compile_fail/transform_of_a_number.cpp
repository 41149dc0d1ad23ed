// expect: pass arrays, views or scalars behind the functor
// lines: 12
// with: core
#include <ferry/core.hpp>

struct axpy {
  FERRY_HOST_DEVICE float operator()(float x, float y) const { return 2 * x + y; }
};

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::transform(ferry::out(y), axpy{}, 2.f, ferry::in(x));
#endif
  ferry::transform(ferry::out(y), axpy{}, ferry::in(y), ferry::in(x));
}
