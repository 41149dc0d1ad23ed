// expect: copy\(from, to\): the destination is a temporary
// with: core
#include <ferry/core.hpp>

void call(const ferry::unified_array<float>& x, ferry::unified_array<float>& y, std::vector<float>& v, float (&c)[10]) {
  ferry::copy(x, v);
  ferry::copy(x, c);
  ferry::copy(x, std::span<float>(v));
  ferry::copy(x, std::span<float>(v).first(10));
  ferry::copy(x, ferry::mdspan<float, 1>(v.data(), {10}, {1}));
  ferry::copy(x, ferry::host_span(y));
  ferry::copy(x, y.slice({0, 10}));
  ferry::copy(std::vector<float>(10), y);  // a source may be a temporary
#ifdef FERRY_WRONG
  ferry::copy(x, std::vector<float>(10));
#endif
}
