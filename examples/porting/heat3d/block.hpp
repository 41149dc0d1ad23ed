// The block of all steps: n x n x n cells with a warm ball, a warm face before the first cell of axis 0, a cold one
// behind its last cell, and insulated faces. examples/heat3d is the same model for any block.
#pragma once
#include <cstddef>
#include <ferry/core/macros.hpp>

namespace block {

constexpr double rate = 0.12;  // diffusivity * time step / cell width^2; stable up to 1/6
constexpr double warm = 1, cold = 0;

FERRY_HOST_DEVICE constexpr double at_start(std::size_t i, std::size_t j, std::size_t k, std::size_t n) {
  const auto size = static_cast<double>(n);
  const double x = static_cast<double>(i) - 0.5 * size;
  const double y = static_cast<double>(j) - 0.4 * size;
  const double z = static_cast<double>(k) - 0.6 * size;
  return x * x + y * y + z * z < 0.04 * size * size ? 1. : 0.25;
}

}  // namespace block
