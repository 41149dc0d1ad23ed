// 3. The hot loop becomes a functor, which the GPU runs. g++ compiles this program, without nvcc: ferry compiles the
// functor for the GPU at its first launch. The CPU waits where it reads what the GPU wrote.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ferry/ferry.hpp>
#include <numbers>
#include <numeric>

namespace fr = ferry;
namespace {

constexpr std::size_t n = 64;  // cells along each side
constexpr double rate = 0.2;   // conductivity * time step / (cell size)^2

double sine(std::size_t i) { return std::sin(std::numbers::pi * i / (n - 1)); }
double larger(double a, double b) { return std::max(a, b); }
double distance(double a, double b) { return std::abs(a - b); }

// One time step of the cells v. u has one more cell on every side.
FERRY_FUNCTOR(relax, {
  double rate;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> u,
                                    fr::mdspan<double, 2> v) const {
    const double here = u(i + 1, j + 1);
    v(i, j) = here + rate * (u(i, j + 1) + u(i + 2, j + 1) + u(i + 1, j) + u(i + 1, j + 2) - 4 * here);
  }
});

}  // namespace

int main() {
  fr::unified_array<double, 2> now({n, n});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) now(i, j) = sine(i) * sine(j);
  fr::unified_array<double, 2> next = now.clone();

  std::size_t steps = 0;
  for (double change = 1; change > 1e-4;) {
    auto v = next.slice({{1, n - 1}, {1, n - 1}});
    fr::parallel_for(v.extents(), relax{rate}, fr::in(now), fr::out(v));
    if (++steps % 20 == 0)
      change = std::transform_reduce(now.cbegin(), now.cend(), next.cbegin(), 0.0, larger, distance);
    std::swap(now, next);
  }

  const double k = std::sin(std::numbers::pi / 2 / (n - 1)), height = std::pow(1 - 8 * rate * k * k, steps);
  double error = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) error = larger(error, distance(now(i, j), height * sine(i) * sine(j)));
  std::printf("%zu steps, height %.6f, wrong by at most %.1e\n", steps, height, error);
  return error < 1e-12 ? 0 : 1;
}
