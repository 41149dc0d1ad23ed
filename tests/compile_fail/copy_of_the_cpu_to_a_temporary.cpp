// expect: copy\(from, to\): the destination is a temporary
// with: core
#include <ferry/core.hpp>

void call(const std::vector<float>& x, std::vector<float>& v) {
  ferry::copy(x, v);
  ferry::copy(std::vector<float>(10), std::span<float>(v));
  ferry::copy(ferry::stream_ref(ferry::default_stream(ferry::device(0))), x, v);
#ifdef FERRY_WRONG
  ferry::copy(x, std::vector<float>(10));
#endif
}
