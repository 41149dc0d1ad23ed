// 5. The cells are distributed over all GPUs. A plan exchanges the states that other GPUs read, and renumbers
// neighbours.
#include <ferry/ferry.hpp>
#include <ferry/multigpu/exchange_plan.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "box.hpp"

namespace fr = ferry;
namespace step_5 {
namespace {

using euler::cell, euler::state;

struct rate {
  FERRY_HOST_DEVICE double operator()(std::size_t i, fr::shard_span<const double, 2> normals,
                                      fr::shard_span<const double, 1> areas,
                                      fr::shard_span<const double, 2> from) const {
    return cell::of(normals, areas[i], i).rate(state::of(from, i));
  }
};

struct advance {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 1> fastest,
                                    fr::shard_span<const int, 2> neighbours, fr::shard_span<const double, 2> normals,
                                    fr::shard_span<const double, 1> areas, fr::shard_span<const double, 2> from,
                                    fr::gathered_span<const double, 2> all, fr::shard_span<double, 2> to) const {
    double most = 0;  // of all GPUs
    for (std::size_t m = 0; m < fastest.size(); ++m) most = fastest(m) > most ? fastest(m) : most;
    const state after = cell::of(normals, areas[i], i)
                            .advanced(
                                state::of(from, i), box::courant / most, state::moving(0),
                                [&](int k) { return neighbours(i, static_cast<std::size_t>(k)); },
                                [&](std::size_t other) { return state::of(all, other); });
    after.put(to, i);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const box b(p.size);
  const fr::team gpus = fr::team::all();
  fr::sharded_array<double, 1> areas(gpus, {b.cells()});
  fr::sharded_array<int, 2> neighbours(gpus, {b.cells(), 3});
  fr::sharded_array<double, 2> normals(gpus, {b.cells(), 6}), now(gpus, {b.cells(), 4}), next(gpus, {b.cells(), 4});
  fr::copy(b.areas, areas);
  fr::copy(b.neighbours, neighbours);
  fr::copy(b.normals, normals);
  fr::copy(b.states, now);
  now.name("now"), next.name("next");
  const fr::exchange_plan plan(now, neighbours);
  plan.renumber(neighbours);

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    const auto fastest =
        fr::parallel_reduce(fr::owned(areas), rate{}, fr::maximum{}, fr::in(normals), fr::in(areas), fr::in(now));
    plan.exchange(now);
    fr::parallel_for(fr::owned(areas), advance{}, fastest, fr::in(neighbours), fr::in(normals), fr::in(areas),
                     fr::in(now), plan.reads(now), fr::out(next));
    swap(now, next);
  }
  gpus.synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now), seconds};
}

}  // namespace step_5
