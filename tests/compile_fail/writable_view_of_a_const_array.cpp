// expect: deleted
// with: core
#include <ferry/core.hpp>

int first(const ferry::unified_array<int>& a) {
#ifdef FERRY_WRONG
  ferry::array_view<int, 1, ferry::memory_kind::unified> v = a;
  v[0] = 9;
#endif
  const ferry::array_view<const int, 1, ferry::memory_kind::unified> r = a;
  return r[0];
}
