// expect: use parallel_for\(owned\(u\), \.\.\.\)
#include <ferry/ferry.hpp>

struct set {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::shard_span<float, 1> u) const { u(i) = 1; }
};

void call(ferry::sharded_array<float, 1>& u) {
#ifdef FERRY_WRONG
  ferry::parallel_for(u, set(), u);
#endif
  ferry::parallel_for(ferry::owned(u), set(), u);
}
