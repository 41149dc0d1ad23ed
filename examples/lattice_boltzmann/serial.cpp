// as: host
#include "serial.hpp"

#include "lattice.hpp"

using lattice::d2q9;

std::vector<double> solve_serially(const channel& c, std::size_t steps) {
  const std::size_t cells = c.rows * c.columns;
  const std::vector<unsigned char> solid = c.solid();
  std::vector<double> now(9 * cells), next(9 * cells);
  for (std::size_t k = 0; k < cells; ++k)  // g++ 13 at -O3 takes wrong weights if the loop over directions is outside
    for (int q = 0; q < d2q9::directions; ++q)
      now[static_cast<std::size_t>(q) * cells + k] = d2q9::equilibrium(q, 1, c.inflow, 0);
  const auto at = [&](int q, std::size_t i, std::size_t j) {
    return static_cast<std::size_t>(q) * cells + i * c.columns + j;
  };
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t i = 0; i < c.rows; ++i)
      for (std::size_t j = 0; j < c.columns; ++j) {
        if (solid[i * c.columns + j]) {
          for (int q = 0; q < d2q9::directions; ++q) next[at(q, i, j)] = now[at(q, i, j)];
          continue;
        }
        double f[d2q9::directions];
        lattice::moments m;
        for (int q = 0; q < d2q9::directions; ++q) {
          const std::size_t row = i - static_cast<std::size_t>(d2q9::down(q)),
                            column = j - static_cast<std::size_t>(d2q9::right(q));
          if (j == 0 && d2q9::right(q) == 1)
            f[q] = d2q9::equilibrium(q, 1, c.inflow, 0);
          else if (j + 1 == c.columns && d2q9::right(q) == -1)
            f[q] = now[at(q, i, j)];
          else if (solid[row * c.columns + column])
            f[q] = now[at(d2q9::opposite(q), i, j)];
          else
            f[q] = now[at(q, row, column)];
          m.add(q, f[q]);
        }
        m.divide();
        for (int q = 0; q < d2q9::directions; ++q)
          next[at(q, i, j)] = f[q] + c.rate() * (d2q9::equilibrium(q, m.density, m.u, m.v) - f[q]);
      }
    std::swap(now, next);
  }
  return now;
}
