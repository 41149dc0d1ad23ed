// A step of the lattice Boltzmann method D2Q9 as a program for the CPU has it, for any field f(i, j). Compiled at -O2,
// the usual level of such programs.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#if defined(__clang__)
#define BENCHMARK_LATTICE __attribute__((noinline))
#else
#define BENCHMARK_LATTICE __attribute__((noipa, optimize("O2")))
#endif

namespace benchmarks {

// A field of a program without ferry.
struct vector_field {
  vector_field(std::size_t n, std::size_t m, double value) : columns(m), all(n * m, value) {}
  double& operator()(std::size_t i, std::size_t j) { return all[i * columns + j]; }
  std::size_t columns;
  std::vector<double> all;
};

template <class Field>
struct lattice {
  lattice(std::size_t n, std::size_t m, auto make) : rows(n), columns(m), density(make(1)), x(make(0)), y(make(0)) {
    for (std::size_t q = 0; q != 9; ++q) from.push_back(make(weight[q])), to.push_back(make(weight[q]));
  }
  static constexpr std::array<int, 9> cx = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  static constexpr std::array<double, 9> weight = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                                   1. / 36, 1. / 36, 1. / 36, 1. / 36};
  std::size_t rows, columns;
  std::vector<Field> from, to;
  Field density, x, y;
};

// Moments of all cells, then collision and streaming of the inner ones.
template <class Field>
BENCHMARK_LATTICE void lattice_step(lattice<Field>& l) {
  for (std::size_t i = 0; i < l.rows; ++i)
    for (std::size_t j = 0; j < l.columns; ++j) {
      double r = 0, x = 0, y = 0;
      for (std::size_t q = 0; q < 9; ++q) {
        const double f = l.from[q](i, j);
        r += f, x += l.cx[q] * f, y += l.cy[q] * f;
      }
      l.density(i, j) = r, l.x(i, j) = x / r, l.y(i, j) = y / r;
    }
  for (std::size_t q = 0; q < 9; ++q)
    for (std::size_t i = 1; i + 1 < l.rows; ++i)
      for (std::size_t j = 1; j + 1 < l.columns; ++j) {
        const double x = l.x(i, j), y = l.y(i, j), c = 3 * (l.cx[q] * x + l.cy[q] * y);
        const double still = l.weight[q] * l.density(i, j) * (1 + c + 0.5 * c * c - 1.5 * (x * x + y * y));
        l.to[q](i + static_cast<std::size_t>(l.cy[q]), j + static_cast<std::size_t>(l.cx[q])) =
            0.4 * l.from[q](i, j) + 0.6 * still;
      }
}

}  // namespace benchmarks
