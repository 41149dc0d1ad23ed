// 5. The planes of axis 0 are distributed over all GPUs, and halos are the ghost cells. A sweep computes the planes
// that neighbours read first, and exchanges them meanwhile.
#include <ferry/ferry.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "block.hpp"

namespace fr = ferry;
namespace step_5 {
namespace {

struct prepare {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::shard_span<double, 3> u) const {
    u(i, j, k) = block::at_start(i, j, k, u.extent(0));
  }
};

struct diffuse {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::shard_span<const double, 3> from,
                                    fr::shard_span<double, 3> to) const {
    const double here = from(i, j, k);
    const double along_0 = from(i - 1, j, k) + from(i + 1, j, k);
    const double along_1 = from(i, j - 1, k) + from(i, j + 1, k);
    const double along_2 = from(i, j, k - 1) + from(i, j, k + 1);
    to(i, j, k) = here + block::rate * (along_0 + along_1 + along_2 - 6 * here);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  using fr::side;
  const std::size_t n = p.size;
  const fr::team gpus = fr::team::all();
  const fr::shard_options planes{.halo = {1, 1, 1}};
  fr::sharded_array<double, 3> now(gpus, {n, n, n}, planes), next(gpus, {n, n, n}, planes);
  now.name("now"), next.name("next");
  fr::parallel_for(fr::sweep(now), prepare{}, fr::out(now));
  for (auto* u : {&now, &next}) {
    fr::fill(fr::ghosts(*u, side::low(0)), fr::fixed_value{block::warm});
    fr::fill(fr::ghosts(*u, side::high(0)), fr::fixed_value{block::cold});
  }

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::fill(fr::ghosts(now, {side::low(1), side::high(1), side::low(2), side::high(2)}), fr::zero_gradient{});
    fr::parallel_for(fr::sweep(next), diffuse{}, fr::in(now), fr::out(next));
    swap(now, next);
  }
  gpus.synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now), seconds};
}

}  // namespace step_5
