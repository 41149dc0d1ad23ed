// 2. Vectors become unified arrays of two and three dimensions, without indices by hand. The CPU still does all the
// work.
#include <ferry/unified.hpp>
#include <utility>

#include "../support/porting.hpp"
#include "basin.hpp"

namespace fr = ferry;
namespace step_2 {

porting::result run(const porting::problem& p) {
  using lattice::d2q9;
  const std::size_t n = p.size;
  fr::unified_array<unsigned char, 2> walls({n, n});
  fr::unified_array<double, 3> now({9, n, n}), next({9, n, n});
  walls.name("walls"), now.name("now"), next.name("next");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      walls(i, j) = basin::is_solid(i, j, n);
      for (int q = 0; q < d2q9::directions; ++q) now(q, i, j) = next(q, i, j) = basin::at_start(q, i, j, n);
    }

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    const auto solid = fr::host(std::as_const(walls));
    const auto from = fr::host(std::as_const(now));
    const auto to = fr::host(next);
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j) {
        if (solid(i, j)) continue;
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
    std::swap(now, next);
  }
  const double seconds = watch.seconds();
  return {{now.cbegin(), now.cend()}, seconds};
}

}  // namespace step_2
