// expect: declare each array of the struct by its template parameter
// with: core
#include <ferry/core.hpp>

namespace {
struct fixed {
  ferry::device_array<float> x;
  FERRY_MEMBERS(x);
};
}  // namespace

void call(const fixed& s) {
  (void)ferry::adapt<ferry::device_array>(s);
#ifdef FERRY_WRONG
  (void)ferry::adapt<ferry::host_array>(s);
#endif
}
