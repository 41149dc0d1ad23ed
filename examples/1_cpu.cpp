// 1. Heat in a plate with cold edges, on the CPU. It starts as a sine, which each time step scales by one factor.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t n = 64;  // cells along each side
constexpr double rate = 0.2;   // conductivity * time step / (cell size)^2

double sine(std::size_t i) { return std::sin(std::numbers::pi * i / (n - 1)); }
double larger(double a, double b) { return std::max(a, b); }
double distance(double a, double b) { return std::abs(a - b); }

std::size_t at(std::size_t i, std::size_t j) { return i * n + j; }

}  // namespace

int main() {
  std::vector<double> now(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) now[at(i, j)] = sine(i) * sine(j);
  std::vector<double> next = now;

  std::size_t steps = 0;
  for (double change = 1; change > 1e-4;) {
    for (std::size_t i = 1; i < n - 1; ++i)
      for (std::size_t j = 1; j < n - 1; ++j)
        next[at(i, j)] = now[at(i, j)] + rate * (now[at(i - 1, j)] + now[at(i + 1, j)] + now[at(i, j - 1)] +
                                                 now[at(i, j + 1)] - 4 * now[at(i, j)]);
    if (++steps % 20 == 0)
      change = std::transform_reduce(now.cbegin(), now.cend(), next.cbegin(), 0.0, larger, distance);
    std::swap(now, next);
  }

  const double k = std::sin(std::numbers::pi / 2 / (n - 1)), height = std::pow(1 - 8 * rate * k * k, steps);
  double error = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) error = larger(error, distance(now[at(i, j)], height * sine(i) * sine(j)));
  std::printf("%zu steps, height %.6f, wrong by at most %.1e\n", steps, height, error);
  return error < 1e-12 ? 0 : 1;
}
