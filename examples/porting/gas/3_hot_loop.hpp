// 3. The loop over the fluxes, most of the time, becomes a functor, which the GPU runs. The CPU finds the fastest wave.
#include <algorithm>
#include <ferry/unified.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "box.hpp"

namespace fr = ferry;
namespace step_3 {
namespace {

using euler::cell, euler::state;

struct advance {
  double time_step;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 2> neighbours,
                                    fr::mdspan<const double, 2> normals, const double* areas,
                                    fr::mdspan<const double, 2> from, fr::mdspan<double, 2> to) const {
    const state after = cell::of(normals, areas[i], i)
                            .advanced(
                                state::of(from, i), time_step, state::moving(0),
                                [&](int k) { return neighbours(i, static_cast<std::size_t>(k)); },
                                [&](std::size_t other) { return state::of(from, other); });
    after.put(to, i);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const box b(p.size);
  const auto areas_of = fr::unified_array<double>::from(b.areas);
  fr::unified_array<int, 2> neighbours_of({b.cells(), 3});
  fr::unified_array<double, 2> normals_of({b.cells(), 6}), now({b.cells(), 4}), next({b.cells(), 4});
  fr::copy(b.neighbours, neighbours_of);
  fr::copy(b.normals, normals_of);
  fr::copy(b.states, now);
  now.name("now"), next.name("next");

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    // mdspans, because the formulas are for devices, too
    const fr::mdspan<const double, 2> normals = fr::host(std::as_const(normals_of)),
                                      from = fr::host(std::as_const(now));
    const auto areas = fr::host_span(areas_of);
    double fastest = 0;
    for (std::size_t i = 0; i < b.cells(); ++i)
      fastest = std::max(fastest, cell::of(normals, areas[i], i).rate(state::of(from, i)));
    fr::parallel_for(b.cells(), advance{box::courant / fastest}, fr::in(neighbours_of), fr::in(normals_of),
                     fr::in(areas_of), fr::in(now), fr::out(next));
    std::swap(now, next);
  }
  fr::default_stream(now.device()).synchronize();
  const double seconds = watch.seconds();
  return {{now.cbegin(), now.cend()}, seconds};
}

}  // namespace step_3
