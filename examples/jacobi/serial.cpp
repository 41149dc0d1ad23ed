// as: host
#include "serial.hpp"

#include <cmath>
#include <numbers>

serial_result solve_serially(std::size_t ny, std::size_t nx, std::size_t iterations) {
  std::vector<float> a(ny * nx, 0.0f);
  for (std::size_t y = 0; y < ny; ++y) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(y) / static_cast<double>(ny - 1);
    a[y * nx] = a[y * nx + nx - 1] = static_cast<float>(std::sin(angle));
  }
  std::vector<float> next = a;
  std::vector<double> norms;
  for (std::size_t k = 0; k < iterations; ++k) {
    double sum = 0;
    for (std::size_t y = 0; y < ny; ++y) {
      const std::size_t above = (y + ny - 1) % ny, below = (y + 1) % ny;
      for (std::size_t x = 1; x + 1 < nx; ++x) {
        const float v = 0.25f * (a[y * nx + x + 1] + a[y * nx + x - 1] + a[below * nx + x] + a[above * nx + x]);
        const float change = v - a[y * nx + x];
        sum += change * change;
        next[y * nx + x] = v;
      }
    }
    std::swap(a, next);
    norms.push_back(std::sqrt(sum));
  }
  return {a, norms};
}
