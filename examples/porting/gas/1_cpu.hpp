// 1. A code for one CPU: the fastest wave gives the time step, and each cell sums the fluxes through its sides.
#include <algorithm>
#include <utility>

#include "../support/porting.hpp"
#include "box.hpp"

namespace step_1 {
porting::result run(const porting::problem& p) {
  using euler::cell, euler::state;
  const box b(p.size);
  const std::vector<double>& areas = b.areas;
  std::vector<double> now = b.states, next(now.size());

  const auto rows = [](auto& all, std::size_t columns) {  // of a table in a vector
    return [&all, columns ](std::size_t i, std::size_t k) -> auto& { return all[columns * i + k]; };
  };
  const auto neighbours = rows(b.neighbours, 3);
  const auto normals = rows(b.normals, 6);
  const auto from = rows(now, 4), to = rows(next, 4);

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
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
  return {now, seconds};
}

}  // namespace step_1
