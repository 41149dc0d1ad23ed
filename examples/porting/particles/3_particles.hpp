// 3. The loops over particles become functors, which the GPU runs; charges are added atomically. The rest stays on the
// CPU.
#include <ferry/core.hpp>

#include "../support/porting.hpp"

namespace fr = ferry;
namespace step_3 {
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

enum field { X, Y, U, V };
using particles_in = fr::soa_span<const double, const double, const double, const double>;
using particles_out = fr::soa_span<double, double, double, double>;

// Distributes each charge over the nodes around it. Other particles add to the same nodes concurrently.
struct deposit {
  FERRY_HOST_DEVICE void operator()(std::size_t k, particles_in p, fr::mdspan<double, 2> rho) const {
    const auto [i, a] = locate(p.get<Y>(k), rho.extent(0));
    const auto [j, b] = locate(p.get<X>(k), rho.extent(0));
    fr::atomic_ref(rho(i, j)).fetch_add(grain((1 - a) * (1 - b)));
    fr::atomic_ref(rho(i, j + 1)).fetch_add(grain((1 - a) * b));
    fr::atomic_ref(rho(i + 1, j)).fetch_add(grain(a * (1 - b)));
    fr::atomic_ref(rho(i + 1, j + 1)).fetch_add(grain(a * b));
  }
};

// The field accelerates the particles.
struct push {
  FERRY_HOST_DEVICE void operator()(std::size_t k, fr::mdspan<const double, 2> phi, particles_out p) const {
    double &x = p.get<X>(k), &y = p.get<Y>(k), &u = p.get<U>(k), &v = p.get<V>(k);
    const std::size_t n = phi.extent(0);
    const auto [i, a] = locate(y, n);
    const auto [j, b] = locate(x, n);
    const double p00 = phi(i, j), p01 = phi(i, j + 1), p10 = phi(i + 1, j), p11 = phi(i + 1, j + 1);
    u -= time_step * ((1 - a) * (p01 - p00) + a * (p11 - p10));
    v -= time_step * ((1 - b) * (p10 - p00) + b * (p11 - p01));
    move(x, u, n);
    move(y, v, n);
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  fr::unified_array<double, 2> rho({n, n}), phi({n, n}, 0.0), next({n, n}, 0.0);
  fr::unified_soa<double, double, double, double> particles(crowd * n * n);
  rho.name("rho"), phi.name("phi"), next.name("next"), particles.name("particles");
  for (std::size_t k = 0; k < crowd * n * n; ++k) {
    const particle born = newcomer(k, n);
    particles[k] = std::tuple(born.x, born.y, born.u, born.v);
  }

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    const std::size_t before = particles.size(), after = before + n;
    if (after > particles.capacity()) particles.reserve(2 * after);  // as vectors do by themselves
    particles.resize(after);
    for (std::size_t k = before; k < after; ++k) {
      const particle born = newcomer(k, n);
      particles[k] = std::tuple(born.x, born.y, born.u, born.v);
    }
    fr::fill(rho, 0.0);
    fr::parallel_for(after, deposit{}, fr::in(particles), fr::inout(rho));
    const auto r = fr::host_span(std::as_const(rho));
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const auto from = fr::host_span(std::as_const(phi));
      const auto to = fr::host_span(next);
      for (std::size_t i = 1; i < n - 1; ++i)
        for (std::size_t j = 1; j < n - 1; ++j)
          to[at(i, j)] = (from[at(i - 1, j)] + from[at(i + 1, j)] + from[at(i, j - 1)] + from[at(i, j + 1)] +
                          charge * r[at(i, j)]) /
                         4;
      std::swap(phi, next);
    }
    fr::parallel_for(after, push{}, fr::in(phi), fr::inout(particles));
  }
  fr::default_stream(rho.device()).synchronize();
  const double seconds = watch.seconds();
  std::vector<double> values(rho.cbegin(), rho.cend());
  values.insert(values.end(), phi.cbegin(), phi.cend());
  for (auto [x, y, u, v] : std::as_const(particles)) values.push_back(x), values.push_back(y);
  return {values, seconds};
}

}  // namespace step_3
