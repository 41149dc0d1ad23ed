// 1. A code for one CPU: each cell pulls the populations of its neighbours, then they collide.
#include <utility>

#include "../support/porting.hpp"
#include "basin.hpp"

namespace step_1 {

porting::result run(const porting::problem& p) {
  using lattice::d2q9;
  const std::size_t n = p.size;
  const auto cell = [n](std::size_t i, std::size_t j) { return n * i + j; };
  const auto at = [n](int q, std::size_t i, std::size_t j) { return n * (n * static_cast<std::size_t>(q) + i) + j; };
  std::vector<unsigned char> solid(n * n);
  std::vector<double> now(9 * n * n), next(9 * n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      solid[cell(i, j)] = basin::is_solid(i, j, n);
      for (int q = 0; q < d2q9::directions; ++q) now[at(q, i, j)] = next[at(q, i, j)] = basin::at_start(q, i, j, n);
    }

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j) {
        if (solid[cell(i, j)]) continue;
        double f[d2q9::directions];
        lattice::moments m;
        for (int q = 0; q < d2q9::directions; ++q) {
          const std::size_t row = i - static_cast<std::size_t>(d2q9::down(q));
          const std::size_t column = j - static_cast<std::size_t>(d2q9::right(q));
          f[q] = solid[cell(row, column)] ? now[at(d2q9::opposite(q), i, j)] : now[at(q, row, column)];
          m.add(q, f[q]);
        }
        m.divide();
        for (int q = 0; q < d2q9::directions; ++q)
          next[at(q, i, j)] = f[q] + basin::rate * (d2q9::equilibrium(q, m.density, m.u, m.v) - f[q]);
      }
    std::swap(now, next);
  }
  const double seconds = watch.seconds();
  return {now, seconds};
}

}  // namespace step_1
