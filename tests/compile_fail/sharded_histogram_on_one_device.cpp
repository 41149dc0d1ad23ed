// expect: deleted function .*sharded_reduced
#include <ferry/ferry.hpp>

void call(const ferry::sharded_array<float, 1>& u, ferry::replicated_array<std::uint64_t, 1>& y,
          ferry::device_array<std::uint64_t, 1>& a) {
  (void)a;
#ifdef FERRY_WRONG
  a = ferry::histogram(u, 3, 0., 1.);
#endif
  y = ferry::histogram(u, 3, 0., 1.);
}
