// as: host
#include "by_openmp.hpp"

#include <omp.h>

namespace by_openmp {

int threads() { return omp_get_max_threads(); }

void copy(const double* a, double* c, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
}
void mul(double* b, const double* c, double scalar, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) b[i] = scalar * c[i];
}
void add(const double* a, const double* b, double* c, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
void triad(double* a, const double* b, const double* c, double scalar, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
}
double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
double sum(const double* a, std::size_t n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i];
  return sum;
}

void stencil(const double* u, double* v, std::size_t rows, std::size_t columns) {
#pragma omp parallel for
  for (std::size_t i = 1; i < rows - 1; ++i)
    for (std::size_t j = 1; j < columns - 1; ++j) {
      const std::size_t at = i * columns + j;
      v[at] = 0.25 * (u[at - columns] + u[at - 1] + u[at + 1] + u[at + columns]);
    }
}

void accelerate(const model& m, const double* terrain, const double* water, outflow* flux, std::size_t rows,
                std::size_t columns) {
#pragma omp parallel for
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t at = i * columns + j;
      const double depth = water[at], level = terrain[at] + depth;
      const auto pushed = [&](double f, double gain, bool has_neighbour, std::size_t beside) {
        const double drop = has_neighbour ? level - (terrain[beside] + water[beside]) : depth;
        const double more = f + gain * drop;
        return more > 0 ? more : 0;
      };
      const outflow before = flux[at];
      outflow f{pushed(before.up, m.gain_rows, i > 0, at - columns),
                pushed(before.down, m.gain_rows, i + 1 < rows, at + columns),
                pushed(before.left, m.gain_columns, j > 0, at - 1),
                pushed(before.right, m.gain_columns, j + 1 < columns, at + 1)};
      const double wanted = m.time_step * f.sum(), there = depth * m.area();
      if (wanted > there) {
        const double k = there / wanted;
        f = {k * f.up, k * f.down, k * f.left, k * f.right};
      }
      flux[at] = f;
    }
}

void transport(const model& m, double rain, const outflow* flux, double* water, double* lost, std::size_t rows,
               std::size_t columns) {
#pragma omp parallel for
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t at = i * columns + j;
      const outflow out = flux[at];
      double in = 0, gone = 0;
      i > 0 ? in += flux[at - columns].down : gone += out.up;
      i + 1 < rows ? in += flux[at + columns].up : gone += out.down;
      j > 0 ? in += flux[at - 1].right : gone += out.left;
      j + 1 < columns ? in += flux[at + 1].left : gone += out.right;
      const double depth = water[at] + rain + m.time_step * (in - out.sum()) / m.area();
      water[at] = depth > 0 ? depth : 0;
      if (gone > 0) lost[at] += m.time_step * gone / m.area();
    }
}

void number(double* y, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<double>(i);
}

}  // namespace by_openmp
