// Conjugate gradients on all devices: Poisson's equation on a square, u = 0 at its edges. The coefficients of each step
// stay on the devices; the CPU reads the residual one step late. Hestenes and Stiefel, "Methods of Conjugate Gradients
// for Solving Linear Systems", 1952. Under mpirun the team spans the devices of all processes; then each step waits for
// the sums over all processes.
// test: --side 65
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ferry/ferry.hpp>
#include <numbers>
#include <optional>

namespace fr = ferry;
namespace {

using field = fr::sharded_array<double, 2>;
// What the functors share.
FERRY_FUNCTOR(poisson, {
  using read_field = fr::shard_span<const double, 2>;
  using write_field = fr::shard_span<double, 2>;

  FERRY_HOST_DEVICE static double solution(std::size_t i, std::size_t j, const read_field& u) {
    const auto at = [](std::size_t k, std::size_t n) {
      return static_cast<double>(k + 1) / static_cast<double>(n + 1);
    };
    const double y = at(i, u.extent(0)), x = at(j, u.extent(1));
    return x * (1 - x) * sin(3 * std::numbers::pi * y) + y * y * (1 - y) * x * (1 - x);
  }
  // The 5-point Laplacian, times -h^2, of the values that `get` returns.
  template <class Get>
  FERRY_HOST_DEVICE static double laplacian(std::size_t i, std::size_t j, const read_field& u, Get get) {
    double around = 0;
    if (i > 0) around += get(i - 1, j);
    if (i + 1 < u.extent(0)) around += get(i + 1, j);
    if (j > 0) around += get(i, j - 1);
    if (j + 1 < u.extent(1)) around += get(i, j + 1);
    return 4 * get(i, j) - around;
  }
});

// x = 0, r = p = b, for a b with known solution. Returns r r.
FERRY_FUNCTOR_USING((poisson), begin, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, poisson::write_field x, poisson::write_field r,
                                      poisson::write_field p) const {
    const poisson::read_field u(x);
    const double b =
        poisson::laplacian(i, j, u, [&](std::size_t k, std::size_t l) { return poisson::solution(k, l, u); });
    x(i, j) = 0;
    r(i, j) = p(i, j) = b;
    return b * b;
  }
});
// q = A p. Returns p q.
FERRY_FUNCTOR_USING((poisson), apply, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, poisson::read_field p,
                                      poisson::write_field q) const {
    q(i, j) = poisson::laplacian(i, j, p, [&](std::size_t k, std::size_t l) { return p(k, l); });
    return p(i, j) * q(i, j);
  }
});
// The quotient of two sums, once on each device.
FERRY_FUNCTOR(divide, {
  using parts = fr::mdspan<const double, 1>;

  FERRY_HOST_DEVICE static double sum_of(const parts& p) {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p(i);
    return sum;
  }
  FERRY_HOST_DEVICE void operator()(std::size_t, parts above, parts below, double* quotient) const {
    *quotient = sum_of(above) / sum_of(below);
  }
});
// x += alpha p, r -= alpha q. Returns r r.
FERRY_FUNCTOR_USING((poisson), advance, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, const double* alpha, poisson::read_field p,
                                      poisson::read_field q, poisson::write_field x, poisson::write_field r) const {
    x(i, j) += *alpha * p(i, j);
    r(i, j) -= *alpha * q(i, j);
    return r(i, j) * r(i, j);
  }
});
// p = r + beta p
FERRY_FUNCTOR_USING((poisson), turn, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, const double* beta, poisson::read_field r,
                                    poisson::write_field p) const {
    p(i, j) = r(i, j) + *beta * p(i, j);
  }
});
FERRY_FUNCTOR_USING((poisson), error, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, poisson::read_field x) const {
    const double e = x(i, j) - poisson::solution(i, j, x);
    return e < 0 ? -e : e;
  }
});

}  // namespace

int main(int argc, char** argv) {
  const bool has_side = argc == 3 && !std::strcmp(argv[1], "--side");
  const auto side = static_cast<std::size_t>(has_side ? std::atol(argv[2]) : 1023);
  const fr::team gpus = fr::team::world();  // of all processes, under mpirun
  const fr::extents<2> grid{side, side};
  field x(gpus, grid), r(gpus, grid), q(gpus, grid), p(gpus, grid, {.halo = 1});
  fr::replicated_array<double> alpha(gpus, {1}), beta(gpus, {1});

  auto rr = fr::parallel_reduce(fr::owned(p), begin{}, fr::plus{}, fr::out(x), fr::out(r), fr::out(p));
  fr::exchange_halos(p);
  const double first = rr.value();
  std::optional<fr::team_scalar<double>> before;
  std::size_t steps = 0;
  const auto start = std::chrono::steady_clock::now();
  do {
    const auto pq = fr::parallel_reduce(fr::owned(q), apply{}, fr::plus{}, fr::in(p), fr::out(q));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, rr, pq, fr::out(alpha));
    auto next = fr::parallel_reduce(fr::owned(x), advance{}, fr::plus{}, fr::in(alpha), fr::in(p), fr::in(q),
                                    fr::inout(x), fr::inout(r));
    fr::parallel_for(fr::each_member(gpus, 1), divide{}, next, rr, fr::out(beta));
    fr::parallel_for(fr::sweep(p), turn{}, fr::in(beta), fr::in(r), fr::inout(p));
    before = std::exchange(rr, std::move(next));
    ++steps;
    // The previous step's value: the devices are busy meanwhile.
  } while (steps < 10 * side && before->value() > 1e-24 * first);
  const double wrong = fr::parallel_reduce(fr::owned(x), error{}, fr::maximum{}, fr::in(x));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!gpus.is_local(0)) return wrong < 1e-9 ? 0 : 1;
  std::printf("%zu x %zu cells on %zu devices: %zu steps, %.3f ms each; wrong by at most %.1e\n", side, side,
              gpus.size(), steps, 1e3 * seconds / static_cast<double>(steps), wrong);
  return wrong < 1e-9 ? 0 : 1;
}
