// expect: list the members of the struct by FERRY_MEMBERS
// with: core
#include <ferry/core.hpp>

namespace {
struct listed {
  ferry::unified_array<float> x;
  int n;
  FERRY_MEMBERS(x, n);
};
struct bare {
  ferry::unified_array<float> x;
};
}  // namespace

void call(const listed& s, [[maybe_unused]] const bare& t) {
  (void)ferry::adapt(ferry::device(0), s);
#ifdef FERRY_WRONG
  (void)ferry::adapt(ferry::device(0), t);
#endif
}
