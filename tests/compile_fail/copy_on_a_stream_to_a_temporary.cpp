// expect: copy\(from, to\): the destination is a temporary
// with: core
#include <ferry/core.hpp>

void call(ferry::stream_ref s, const ferry::device_array<float>& x, std::vector<float>& v) {
  ferry::copy(s, x, v);
#ifdef FERRY_WRONG
  ferry::copy(s, x, std::vector<float>(10));
#endif
}
