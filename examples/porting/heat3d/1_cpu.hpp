// 1. The heat equation in a block, on the CPU: explicit steps, with a layer of ghost cells around the block.
#include <utility>
#include <vector>

#include "../support/porting.hpp"
#include "block.hpp"

namespace step_1 {

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size, row = n + 2, plane = row * row;
  const auto at = [=](std::size_t i, std::size_t j, std::size_t k) { return i * plane + j * row + k; };
  std::vector<double> now(plane * row), next(plane * row);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) now[at(i + 1, j + 1, k + 1)] = block::at_start(i, j, k, n);
  for (auto* u : {&now, &next})
    for (std::size_t j = 1; j <= n; ++j)
      for (std::size_t k = 1; k <= n; ++k) (*u)[at(0, j, k)] = block::warm, (*u)[at(n + 1, j, k)] = block::cold;

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    for (std::size_t i = 1; i <= n; ++i)
      for (std::size_t k = 1; k <= n; ++k) {  // insulated: ghost cells are as warm as the cells beside them
        now[at(i, 0, k)] = now[at(i, 1, k)], now[at(i, n + 1, k)] = now[at(i, n, k)];
        now[at(i, k, 0)] = now[at(i, k, 1)], now[at(i, k, n + 1)] = now[at(i, k, n)];
      }
    for (std::size_t i = 1; i <= n; ++i)
      for (std::size_t j = 1; j <= n; ++j)
        for (std::size_t k = 1; k <= n; ++k) {
          const double here = now[at(i, j, k)];
          const double along_0 = now[at(i - 1, j, k)] + now[at(i + 1, j, k)];
          const double along_1 = now[at(i, j - 1, k)] + now[at(i, j + 1, k)];
          const double along_2 = now[at(i, j, k - 1)] + now[at(i, j, k + 1)];
          next[at(i, j, k)] = here + block::rate * (along_0 + along_1 + along_2 - 6 * here);
        }
    std::swap(now, next);
  }
  const double seconds = watch.seconds();
  std::vector<double> cells;
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= n; ++j)
      for (std::size_t k = 1; k <= n; ++k) cells.push_back(now[at(i, j, k)]);
  return {cells, seconds};
}

}  // namespace step_1
