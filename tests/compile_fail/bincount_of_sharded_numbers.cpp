// expect: bincount\(e, bins\) takes integers
#include <ferry/ferry.hpp>

void call(const ferry::sharded_array<float, 1>& u, ferry::replicated_array<std::uint64_t, 1>& y,
          ferry::device_array<std::uint64_t, 1>& a) {
  (void)a;
#ifdef FERRY_WRONG
  y = ferry::bincount(u, 3);
#endif
  y = ferry::bincount(ferry::cast<int>(u), 3);
}
