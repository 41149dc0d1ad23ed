// 5. The rows are distributed over all GPUs. A sweep computes the rows that neighbours read first, and exchanges them
// meanwhile.
#include <ferry/ferry.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "basin.hpp"

namespace fr = ferry;
namespace step_5 {
namespace {

using lattice::d2q9;

struct prepare {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<unsigned char, 2> solid,
                                    fr::shard_span<double, 3> now, fr::shard_span<double, 3> next) const {
    solid(i, j) = basin::is_solid(i, j, solid.extent(0));
    for (int q = 0; q < d2q9::directions; ++q) now(q, i, j) = next(q, i, j) = basin::at_start(q, i, j, solid.extent(0));
  }
};

struct advance {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const unsigned char, 2> solid,
                                    fr::shard_span<const double, 3> from, fr::shard_span<double, 3> to) const {
    if (solid(i, j)) return;
    double f[d2q9::directions];
    lattice::moments m;
    for (int q = 0; q < d2q9::directions; ++q) {
      const std::size_t row = i - static_cast<std::size_t>(d2q9::down(q));
      const std::size_t column = j - static_cast<std::size_t>(d2q9::right(q));
      f[q] = solid(row, column) ? from(d2q9::opposite(q), i, j) : from(q, row, column);
      m.add(q, f[q]);
    }
    m.divide();
    for (int q = 0; q < d2q9::directions; ++q)
      to(q, i, j) = f[q] + basin::rate * (d2q9::equilibrium(q, m.density, m.u, m.v) - f[q]);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  const fr::team gpus = fr::team::all();
  const fr::shard_options rows{.axis = 1, .halo = {0, 1, 0}};
  fr::sharded_array<unsigned char, 2> walls(gpus, {n, n}, {.halo = {1, 0}});
  fr::sharded_array<double, 3> now(gpus, {9, n, n}, rows), next(gpus, {9, n, n}, rows);
  walls.name("walls"), now.name("now"), next.name("next");
  fr::parallel_for(fr::sweep(walls), prepare{}, fr::out(walls), fr::out(now), fr::out(next));

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::parallel_for(fr::sweep(walls), advance{}, fr::in(walls), fr::in(now), fr::inout(next));  // inout: walls stay
    swap(now, next);
  }
  gpus.synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now), seconds};
}

}  // namespace step_5
