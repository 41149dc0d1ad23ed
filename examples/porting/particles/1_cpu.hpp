// 1. Charges that repel each other in a grounded box, on the CPU; a beam brings more of them in every step.
// Particle-in-cell: C. K. Birdsall, A. B. Langdon, "Plasma Physics via Computer Simulation", 1985; the field is found
// by Jacobi's relaxation.
#include <algorithm>
#include <vector>

#include "../support/porting.hpp"

namespace step_1 {
namespace {

constexpr std::size_t crowd = 16;  // particles per node
constexpr double time_step = 0.1, charge = 0.01 / crowd;
constexpr int sweeps = 8;  // relaxation sweeps, starting from the previous step's field

struct particle {  // in cells, and in cells per unit of time
  double x, y, u, v;
};

constexpr double fraction(double x) { return x - static_cast<double>(static_cast<std::size_t>(x)); }

// Particle k in a box of n x n nodes: the initial particles are anywhere, at rest; later ones enter from the left.
constexpr particle newcomer(std::size_t k, std::size_t n) {
  const double x = fraction(0.7548776662466927 * static_cast<double>(k)), length = static_cast<double>(n - 1),
               y = fraction(0.5698402909980532 * static_cast<double>(k));
  return k < crowd * n * n ? particle{length * x, length * y, 0, 0} : particle{x / 2, length * (0.25 + y / 2), 2, 0};
}

// A coordinate's cell, and the position within it, 0 to 1.
struct place {
  std::size_t cell;
  double inside;
};
constexpr place locate(double x, std::size_t n) {
  const auto c = static_cast<std::size_t>(x);
  const std::size_t cell = c < n - 2 ? c : n - 2;
  return {cell, x - static_cast<double>(cell)};
}

// Moves a particle, and reflects it at the walls.
constexpr void move(double& x, double& u, std::size_t n) {
  const double wall = static_cast<double>(n - 1);
  x += time_step * u;
  if (x < 0 || x > wall) u = -u, x = x < 0 ? -x : 2 * wall - x;
}

// Rounds to a multiple of 2^-24: double adds millions of these exactly, in any order.
constexpr double grain(double weight) { return (weight + 0x1.8p28) - 0x1.8p28; }

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  std::vector<double> rho(n * n), phi(n * n), next(n * n);
  std::vector<particle> particles;
  for (std::size_t k = 0; k < crowd * n * n; ++k) particles.push_back(newcomer(k, n));

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    for (std::size_t k = 0; k < n; ++k) particles.push_back(newcomer(particles.size(), n));
    std::fill(rho.begin(), rho.end(), 0.0);
    for (const auto& [x, y, u, v] : particles) {  // each charge is distributed over the nodes around it
      const auto [i, a] = locate(y, n);
      const auto [j, b] = locate(x, n);
      rho[at(i, j)] += grain((1 - a) * (1 - b));
      rho[at(i, j + 1)] += grain((1 - a) * b);
      rho[at(i + 1, j)] += grain(a * (1 - b));
      rho[at(i + 1, j + 1)] += grain(a * b);
    }
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t i = 1; i < n - 1; ++i)
        for (std::size_t j = 1; j < n - 1; ++j)
          next[at(i, j)] =
              (phi[at(i - 1, j)] + phi[at(i + 1, j)] + phi[at(i, j - 1)] + phi[at(i, j + 1)] + charge * rho[at(i, j)]) /
              4;
      std::swap(phi, next);
    }
    for (auto& [x, y, u, v] : particles) {  // the field accelerates the particles
      const auto [i, a] = locate(y, n);
      const auto [j, b] = locate(x, n);
      const double p00 = phi[at(i, j)], p01 = phi[at(i, j + 1)], p10 = phi[at(i + 1, j)], p11 = phi[at(i + 1, j + 1)];
      u -= time_step * ((1 - a) * (p01 - p00) + a * (p11 - p10));
      v -= time_step * ((1 - b) * (p10 - p00) + b * (p11 - p01));
      move(x, u, n);
      move(y, v, n);
    }
  }
  const double seconds = watch.seconds();
  std::vector<double> values = rho;
  values.insert(values.end(), phi.begin(), phi.end());
  for (const auto& [x, y, u, v] : particles) values.push_back(x), values.push_back(y);
  return {values, seconds};
}

}  // namespace step_1
