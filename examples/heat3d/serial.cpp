// as: host
#include "serial.hpp"

#include <utility>

#include "heat.hpp"

std::vector<double> solve_serially(const block& b, std::size_t steps) {
  // With a layer of ghost cells: cell (i, j, k) is at (i + 1, j + 1, k + 1).
  const std::size_t row = b.l + 2, plane = (b.m + 2) * row;
  std::vector<double> now((b.n + 2) * plane), next(now.size());
  const heat::start start{b.radius()};
  for (std::size_t i = 0; i < b.n; ++i)
    for (std::size_t j = 0; j < b.m; ++j)
      for (std::size_t k = 0; k < b.l; ++k)
        now[(i + 1) * plane + (j + 1) * row + k + 1] =
            start.temperature(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k),
                              static_cast<double>(b.n), static_cast<double>(b.m), static_cast<double>(b.l));
  const heat::formula formula{b.rate};
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t p = 0; p < plane; ++p) now[p] = b.warm, now[(b.n + 1) * plane + p] = b.cold;
    for (std::size_t i = 1; i <= b.n; ++i) {
      double* const u = now.data() + i * plane;
      for (std::size_t k = 0; k < row; ++k) u[k] = u[row + k], u[(b.m + 1) * row + k] = u[b.m * row + k];
      for (std::size_t j = 1; j <= b.m; ++j) u[j * row] = u[j * row + 1], u[j * row + b.l + 1] = u[j * row + b.l];
    }
    for (std::size_t i = 1; i <= b.n; ++i)
      for (std::size_t j = 1; j <= b.m; ++j)
        for (std::size_t k = 1; k <= b.l; ++k) {
          const double* const u = now.data() + i * plane + j * row + k;
          next[i * plane + j * row + k] =
              formula(*u, *(u - plane) + *(u + plane), *(u - row) + *(u + row), *(u - 1) + *(u + 1));
        }
    std::swap(now, next);
  }
  std::vector<double> cells;
  cells.reserve(b.n * b.m * b.l);
  for (std::size_t i = 1; i <= b.n; ++i)
    for (std::size_t j = 1; j <= b.m; ++j) {
      const auto from = now.begin() + static_cast<std::ptrdiff_t>(i * plane + j * row + 1);
      cells.insert(cells.end(), from, from + static_cast<std::ptrdiff_t>(b.l));
    }
  return cells;
}
