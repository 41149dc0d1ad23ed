// expect: the destination of an assignment is const
#include <ferry/ferry.hpp>

namespace fr = ferry;

void good(const fr::device_array<float>& a) {
  (void)fr::sort(a);
#ifdef FERRY_WRONG
  fr::sort_in_place(a);
#endif
}
