// The lattice Boltzmann method in two dimensions with nine directions (D2Q9) and one collision time (BGK). The devices
// and the serial solver share its formulas. Source: Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479.
#pragma once
#include <ferry/multigpu.hpp>

namespace lattice {

// Directions: 0 rests, 1 to 4 along the axes, 5 to 8 along the diagonals.
FERRY_FUNCTOR(d2q9, {
  static constexpr int directions = 9;
  FERRY_HOST_DEVICE static int right(int q) { return (q == 1 || q == 5 || q == 8) - (q == 3 || q == 6 || q == 7); }
  FERRY_HOST_DEVICE static int down(int q) { return (q == 2 || q == 5 || q == 6) - (q == 4 || q == 7 || q == 8); }
  FERRY_HOST_DEVICE static int opposite(int q) { return q == 0 ? 0 : (q + 1) % 4 + (q < 5 ? 1 : 5); }
  FERRY_HOST_DEVICE static double weight(int q) { return q == 0 ? 4. / 9 : q < 5 ? 1. / 9 : 1. / 36; }
  FERRY_HOST_DEVICE static double equilibrium(int q, double density, double u, double v) {
    const double along = 3 * (right(q) * u + down(q) * v);
    return weight(q) * density * (1 + along + 0.5 * along * along - 1.5 * (u * u + v * v));
  }
});

// Density, and velocity to the right and down, of the populations f(0) to f(8).
FERRY_FUNCTOR_USING((d2q9), moments, {
  double density = 0;
  double u = 0;
  double v = 0;
  FERRY_HOST_DEVICE void add(int q, double f) {
    density += f;
    u += d2q9::right(q) * f;
    v += d2q9::down(q) * f;
  }
  FERRY_HOST_DEVICE void divide() {
    u /= density;
    v /= density;
  }
});

// The walls of each cell, one bit a direction: set if populations of direction q come from a solid cell, for q = 0 if
// the cell itself is solid. A step reads these two bytes instead of nine cells of `solid`.
FERRY_FUNCTOR_USING((d2q9), find_walls, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<const unsigned char, 2> solid,
                                    ferry::shard_span<unsigned short, 2> walls) const {
    unsigned bits = 0;
    for (int q = 0; q < d2q9::directions; ++q) {
      const std::size_t row = i - static_cast<std::size_t>(d2q9::down(q));
      const std::size_t column = j - static_cast<std::size_t>(d2q9::right(q));
      const bool inside = row < solid.extent(0) && column < solid.extent(1);
      if (inside && solid(row, column)) bits |= 1u << q;
    }
    walls(i, j) = static_cast<unsigned short>(bits);
  }
});

// One step of a cell: it pulls the populations of its neighbours, then they collide. Populations that come from a solid
// cell bounce back. At the left end, the fluid enters at a fixed velocity; at the right end, it leaves.
FERRY_FUNCTOR_USING((d2q9, moments), step, {
  double inflow;
  double rate;  // of the collisions: 1 / (3 viscosity + 1/2)
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<const double, 3> now,
                                    ferry::shard_span<const unsigned short, 2> walls,
                                    ferry::shard_span<double, 3> next) const {
    // What most cells need is read at once. Cells at walls and ends read again, below.
    const unsigned solid = walls(i, j);
    const std::size_t last = now.extent(2) - 1;
    const std::size_t left = j == 0 ? j : j - 1;
    const std::size_t right = j == last ? j : j + 1;
    double f[d2q9::directions];
    for (int q = 0; q < d2q9::directions; ++q)
      f[q] = now(q, i - static_cast<std::size_t>(d2q9::down(q)),
                 d2q9::right(q) == 1    ? left
                 : d2q9::right(q) == -1 ? right
                                        : j);
    if (solid != 0 || j == 0 || j == last) {
      for (int q = 0; q < d2q9::directions; ++q) {
        if (solid & 1u || (j == last && d2q9::right(q) == -1))
          f[q] = now(q, i, j);
        else if (j == 0 && d2q9::right(q) == 1)
          f[q] = d2q9::equilibrium(q, 1, inflow, 0);
        else if (solid >> q & 1u)
          f[q] = now(d2q9::opposite(q), i, j);
      }
    }
    moments m;
    for (int q = 0; q < d2q9::directions; ++q) m.add(q, f[q]);
    m.divide();
    const double moves = solid & 1u ? 0 : rate;
    for (int q = 0; q < d2q9::directions; ++q)
      next(q, i, j) = f[q] + moves * (d2q9::equilibrium(q, m.density, m.u, m.v) - f[q]);
  }
});

// All cells start with the velocity of the inflow.
FERRY_FUNCTOR_USING((d2q9), start, {
  double inflow;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<double, 3> f) const {
    for (int q = 0; q < d2q9::directions; ++q) f(q, i, j) = d2q9::equilibrium(q, 1, inflow, 0);
  }
});

// The velocity of each cell; 0 where it is solid.
FERRY_FUNCTOR_USING((d2q9, moments), velocity, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::shard_span<const double, 3> f,
                                    ferry::shard_span<const unsigned char, 2> solid,
                                    ferry::shard_span<double, 3> to) const {
    moments m;
    for (int q = 0; q < d2q9::directions; ++q) m.add(q, f(q, i, j));
    m.divide();
    const double moves = solid(i, j) ? 0 : 1;
    to(0, i, j) = moves * m.u;
    to(1, i, j) = moves * m.v;
  }
});

}  // namespace lattice
