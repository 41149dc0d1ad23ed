// 4. The start becomes a functor, too. The CPU does not access the arrays any more: they become device arrays.
#include <ferry/core.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "basin.hpp"

namespace fr = ferry;
namespace step_4 {
namespace {

using lattice::d2q9;

struct prepare {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<unsigned char, 2> solid,
                                    fr::mdspan<double, 3> now, fr::mdspan<double, 3> next) const {
    solid(i, j) = basin::is_solid(i, j, solid.extent(0));
    for (int q = 0; q < d2q9::directions; ++q) now(q, i, j) = next(q, i, j) = basin::at_start(q, i, j, solid.extent(0));
  }
};

struct advance {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const unsigned char, 2> solid,
                                    fr::mdspan<const double, 3> from, fr::mdspan<double, 3> to) const {
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
  fr::device_array<unsigned char, 2> walls({n, n});
  fr::device_array<double, 3> now({9, n, n}), next({9, n, n});
  walls.name("walls"), now.name("now"), next.name("next");
  fr::parallel_for({n, n}, prepare{}, fr::out(walls), fr::out(now), fr::out(next));

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::parallel_for({n, n}, advance{}, fr::in(walls), fr::in(now), fr::inout(next));  // inout: walls stay
    std::swap(now, next);
  }
  fr::default_stream(now.device()).synchronize();
  const double seconds = watch.seconds();
  return {fr::to_vector(now), seconds};
}

}  // namespace step_4
