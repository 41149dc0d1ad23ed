// 6. Array notation: each statement is one pass over the rows of each GPU. `shift` reads neighbouring cells and the
// edges; what other GPUs own is exchanged meanwhile. No functor remains. Under `mpirun`, the GPUs of all processes take
// part.
// as: host
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ferry/ferry.hpp>
#include <numbers>
#include <optional>

namespace fr = ferry;
namespace {

using plate = fr::sharded_array<double, 2>;

constexpr std::size_t n = 64;  // cells along each side
constexpr double rate = 0.2;   // conductivity * time step / (cell size)^2

// The cells between the edges; the halo has the edges.
auto sine(int axis) { return fr::sin(std::numbers::pi / (n - 1) * (fr::index(axis) + 1.0)); }
double error_of(const plate& u, double height) { return fr::max(fr::abs(u - height * sine(0) * sine(1))); }

auto around(const plate& u) {
  return fr::shift(u, {-1, 0}) + fr::shift(u, {1, 0}) + fr::shift(u, {0, -1}) + fr::shift(u, {0, 1});
}
void heat(plate& u, plate& next) {
  next = u + rate * (around(u) - 4 * u);
  swap(u, next);
}
void wave(plate& u, plate& before) {
  before = 2 * u - before + rate * (around(u) - 4 * u);
  swap(u, before);
}
void jacobi(plate& u, plate& next, const plate& source) {
  next = 0.25 * (around(u) + source);
  swap(u, next);
}

}  // namespace

int main() {
  const fr::team gpus = fr::team::world();
  const fr::shard_options rows{.axis = 0, .halo = {1, 1}};
  plate now(gpus, {n - 2, n - 2}, rows, 0.0), next(gpus, {n - 2, n - 2}, rows, 0.0);
  now = sine(0) * sine(1);

  std::size_t steps = 0;
  std::optional<fr::team_scalar<double>> late;
  for (double change = 1; change > 1e-4;) {
    heat(now, next);
    if (++steps % 20 == 0) {
      if (late) change = *late;
      late = fr::max(fr::abs(now - next));
    }
  }

  const double k = std::sin(std::numbers::pi / 2 / (n - 1)), height = std::pow(1 - 8 * rate * k * k, steps);
  double error = error_of(now, height);

  // A membrane that swings, and the temperature that a source reaches. Both keep the shape of the sine as well.
  const double angle = 2 * std::asin(k * std::sqrt(2 * rate));
  plate source(gpus, {n - 2, n - 2});
  source = sine(0) * sine(1);
  next = std::cos(angle) * source;
  fr::assign(now, source);
  for (int step = 0; step < 100; ++step) wave(now, next);
  error = std::max(error, error_of(now, std::cos(100 * angle)));
  fr::assign(now, 0);
  for (int step = 0; step < 100; ++step) jacobi(now, next, source);
  error = std::max(error, error_of(now, -std::expm1(100 * std::log1p(-2 * k * k)) / (8 * k * k)));

  if (gpus.is_local(0)) std::printf("%zu steps, height %.6f, wrong by at most %.1e\n", steps, height, error);
  return error < 1e-12 ? 0 : 1;
}
