// The fluid of all steps: a basin of n x n cells with walls and a disc, in which two streams pass each other. The
// formulas are those of examples/lattice_boltzmann.
#pragma once
#include <cstddef>

#include "../../lattice_boltzmann/lattice.hpp"

namespace basin {

constexpr double rate = 1.5;  // of the collisions

constexpr unsigned char is_solid(std::size_t i, std::size_t j, std::size_t n) {
  const double down = static_cast<double>(i) - 0.5 * static_cast<double>(n);
  const double right = static_cast<double>(j) - 0.4 * static_cast<double>(n);
  const double radius = 0.15 * static_cast<double>(n);
  return i == 0 || j == 0 || i + 1 == n || j + 1 == n || down * down + right * right < radius * radius;
}

// Population q of a cell at the start.
FERRY_HOST_DEVICE inline double at_start(int q, std::size_t i, std::size_t j, std::size_t n) {
  const double speed = is_solid(i, j, n) ? 0 : i < n / 2 ? 0.05 : -0.05;
  return lattice::d2q9::equilibrium(q, 1, speed, 0);
}

}  // namespace basin
