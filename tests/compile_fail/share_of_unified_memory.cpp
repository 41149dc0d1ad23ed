// expect: no matching function
// with: core
#include <ferry/core.hpp>

void call(ferry::device_array<float>& a, [[maybe_unused]] ferry::unified_array<float>& u) {
  (void)ferry::share(a);
#ifdef FERRY_WRONG
  (void)ferry::share(u);
#endif
}
