// expect: of several outputs, a struct of one member for
// lines: 12
// with: core
#include <ferry/core.hpp>

struct twice {
  FERRY_HOST_DEVICE float operator()(float x) const { return 2 * x; }
};

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y, ferry::device_array<float>& z) {
#ifdef FERRY_WRONG
  ferry::transform(ferry::out(y), ferry::out(z), twice{}, ferry::in(x));
#endif
  ferry::transform(ferry::out(y), twice{}, ferry::in(x));
  ferry::transform(ferry::out(z), twice{}, ferry::in(x));
}
