// expect: the mask has elements of type bool
#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(fr::device_array<int>& m, fr::device_array<float>& a) {
  (void)fr::compress(m != 0, a);
#ifdef FERRY_WRONG
  (void)fr::compress(m, a);
#endif
}
