// 2. Tables and states become unified arrays of two dimensions. The CPU still does all the work.
#include <algorithm>
#include <ferry/unified.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "box.hpp"

namespace fr = ferry;
namespace step_2 {

porting::result run(const porting::problem& p) {
  using euler::cell, euler::state;
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
    const auto neighbours = fr::host(std::as_const(neighbours_of));
    const auto normals = fr::host(std::as_const(normals_of)), from = fr::host(std::as_const(now));
    const auto areas = fr::host_span(areas_of);
    const auto to = fr::host(next);
    double fastest = 0;
    for (std::size_t i = 0; i < b.cells(); ++i)
      fastest = std::max(fastest, cell::of(normals, areas[i], i).rate(state::of(from, i)));
    const double time_step = box::courant / fastest;
    for (std::size_t i = 0; i < b.cells(); ++i) {
      const state after = cell::of(normals, areas[i], i)
                              .advanced(
                                  state::of(from, i), time_step, state::moving(0),
                                  [&](int k) { return neighbours(i, static_cast<std::size_t>(k)); },
                                  [&](std::size_t other) { return state::of(from, other); });
      after.put(to, i);
    }
    std::swap(now, next);
  }
  const double seconds = watch.seconds();
  return {{now.cbegin(), now.cend()}, seconds};
}

}  // namespace step_2
