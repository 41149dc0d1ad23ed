// expect: begin with the outputs: transform\(out\(y\), f, in\(a\), ...\)
// lines: 12
// with: core
#include <ferry/core.hpp>

struct twice {
  FERRY_HOST_DEVICE float operator()(float x) const { return 2 * x; }
};

void call(const ferry::device_array<float>& x, ferry::device_array<float>& y) {
#ifdef FERRY_WRONG
  ferry::transform(y, twice{}, ferry::in(x));
#endif
  ferry::transform(ferry::out(y), twice{}, ferry::in(x));
}
