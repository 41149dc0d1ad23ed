// expect: members have parts of the array: use u\.cells\(member
#include <ferry/ferry.hpp>

void call(ferry::sharded_array<float, 2>& u) {
#ifdef FERRY_WRONG
  u.slice(0, 4);
#endif
  u.cells(0, {{0, 4}});
}
