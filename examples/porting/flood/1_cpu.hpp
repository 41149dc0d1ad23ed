// 1. Rain on a valley, on the CPU: water in pipes between cells of 1 m x 1 m. X. Mei, P. Decaudin, B.-G. Hu, "Fast
// Hydraulic Erosion Simulation and Visualization on GPU", Pacific Graphics 2007, sections 3.1 and 3.2. The edges are
// open.
#include <vector>

#include "../support/porting.hpp"

namespace step_1 {
namespace {

constexpr double time_step = 0.1, gain = 0.981;  // s; what one metre of drop adds to a flux in one step, m3/s
constexpr double rain = 1e-3;                    // m a step

struct outflow {  // of a cell, m3/s
  double up = 0, down = 0, left = 0, right = 0;
  constexpr double sum() const { return up + down + left + right; }
};

// Height of the ground of an n x n valley, m.
constexpr double ground(std::size_t i, std::size_t j, std::size_t n) {
  const double x = static_cast<double>(j) / static_cast<double>(n) - 0.5;
  return 20 * x * x + static_cast<double>((7 * i + 13 * j) % 17) / 10 - static_cast<double>(i) / 50;
}

// Clamps the flux at 0: water never flows backwards.
constexpr double pushed(double flux, double drop) {
  const double more = flux + gain * drop;
  return more > 0 ? more : 0;
}

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  std::vector<double> terrain(n * n), water(n * n), lost(n * n);
  std::vector<outflow> flux(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) terrain[at(i, j)] = ground(i, j, n);

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {  // pressure drives the fluxes
        const double depth = water[at(i, j)], level = terrain[at(i, j)] + depth;
        const auto drop = [&](std::size_t r, std::size_t c) {  // 0 - 1 wraps, and is outside, too
          return r < n && c < n ? level - terrain[at(r, c)] - water[at(r, c)] : depth;
        };
        outflow f = flux[at(i, j)];
        f = {pushed(f.up, drop(i - 1, j)), pushed(f.down, drop(i + 1, j)), pushed(f.left, drop(i, j - 1)),
             pushed(f.right, drop(i, j + 1))};
        const double wanted = time_step * f.sum(), k = wanted > depth ? depth / wanted : 1;  // at most its water
        flux[at(i, j)] = {k * f.up, k * f.down, k * f.left, k * f.right};
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {  // the fluxes and the rain change the depth
        const outflow f = flux[at(i, j)];
        double in = 0, gone = 0;
        i > 0 ? in += flux[at(i - 1, j)].down : gone += f.up;
        i + 1 < n ? in += flux[at(i + 1, j)].up : gone += f.down;
        j > 0 ? in += flux[at(i, j - 1)].right : gone += f.left;
        j + 1 < n ? in += flux[at(i, j + 1)].left : gone += f.right;
        const double depth = water[at(i, j)] + rain + time_step * (in - f.sum());
        water[at(i, j)] = depth > 0 ? depth : 0;  // rounding may give -1e-18
        lost[at(i, j)] += time_step * gone;
      }
  }
  const double seconds = watch.seconds();
  water.insert(water.end(), lost.begin(), lost.end());
  return {water, seconds};
}

}  // namespace step_1
