// expect: deleted function
#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(fr::device_array<float>& a) {
  const auto total = fr::sum(a);
  const fr::scalar<float> s = total;
  (void)float(s);
#ifdef FERRY_WRONG
  (void)float(total);
#endif
}
