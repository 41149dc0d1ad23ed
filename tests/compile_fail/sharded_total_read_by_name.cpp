// expect: deleted function .*operator
// lines: 16
#include <ferry/ferry.hpp>

float call(const ferry::sharded_array<float, 2>& u) {
  const auto total = ferry::sum(u);
#ifdef FERRY_WRONG
  return total;
#endif
  const ferry::team_scalar<float> now = total;
  return now;
}
