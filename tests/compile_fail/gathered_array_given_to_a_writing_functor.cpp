// expect: in given to a writing functor
#include <ferry/ferry.hpp>
#include <ferry/multigpu/exchange_plan.hpp>

struct reads {
  FERRY_HOST_DEVICE void operator()(std::size_t i, ferry::gathered_span<const float, 1> u,
                                    ferry::shard_span<float, 1> y) const {
    y(i) = u(0);
  }
};
struct writes {
  FERRY_HOST_DEVICE void operator()(std::size_t, ferry::gathered_span<float, 1> u, ferry::shard_span<float, 1>) const {
    u(0) = 1;
  }
};

void call(const ferry::exchange_plan& plan, ferry::sharded_array<float, 1>& u, ferry::sharded_array<float, 1>& y) {
  ferry::parallel_for(ferry::owned(y), reads{}, plan.reads(u), ferry::out(y));
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::owned(y), writes{}, plan.reads(u), ferry::out(y));
#endif
}
