// 4. The fastest wave is a reduction, whose result stays on the GPU. All arrays become device arrays.
#include <ferry/core.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "box.hpp"

namespace fr = ferry;
namespace step_4 {
namespace {

using euler::cell, euler::state;

struct rate {
  FERRY_HOST_DEVICE double operator()(std::size_t i, fr::mdspan<const double, 2> normals, const double* areas,
                                      fr::mdspan<const double, 2> from) const {
    return cell::of(normals, areas[i], i).rate(state::of(from, i));
  }
};

struct advance {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 0> fastest,
                                    fr::mdspan<const int, 2> neighbours, fr::mdspan<const double, 2> normals,
                                    const double* areas, fr::mdspan<const double, 2> from,
                                    fr::mdspan<double, 2> to) const {
    const state after = cell::of(normals, areas[i], i)
                            .advanced(
                                state::of(from, i), box::courant / fastest(), state::moving(0),
                                [&](int k) { return neighbours(i, static_cast<std::size_t>(k)); },
                                [&](std::size_t other) { return state::of(from, other); });
    after.put(to, i);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const box b(p.size);
  const auto areas = fr::device_array<double>::from(b.areas);
  fr::device_array<int, 2> neighbours({b.cells(), 3});
  fr::device_array<double, 2> normals({b.cells(), 6}), now({b.cells(), 4}), next({b.cells(), 4});
  fr::copy(b.neighbours, neighbours);
  fr::copy(b.normals, normals);
  fr::copy(b.states, now);
  now.name("now"), next.name("next");

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    const auto fastest =
        fr::parallel_reduce(b.cells(), rate{}, fr::maximum{}, fr::in(normals), fr::in(areas), fr::in(now));
    fr::parallel_for(b.cells(), advance{}, fastest, fr::in(neighbours), fr::in(normals), fr::in(areas), fr::in(now),
                     fr::out(next));
    std::swap(now, next);
  }
  fr::default_stream(now.device()).synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now), seconds};
}

}  // namespace step_4
