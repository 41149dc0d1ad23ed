// expect: deleted.*use b = a[.]clone
// with: core
#include <ferry/core.hpp>

ferry::unified_array<float> twin(ferry::unified_array<float>& a) {
#ifdef FERRY_WRONG
  ferry::unified_array<float> b = a;
  return b;
#endif
  return a.clone();
}
