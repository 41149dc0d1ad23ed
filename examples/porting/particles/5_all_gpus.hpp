// 5. Particles are distributed over all GPUs in turn. Each GPU adds its own charges, and a collective adds these sums.
// Each GPU computes the whole field, because the grid is small compared with its particles.
#include <ferry/ferry.hpp>

#include "../support/porting.hpp"

namespace fr = ferry;
namespace step_5 {
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

// Creates particles in a structure that contains every `gpus`th particle, beginning with particle `gpu`.
struct enter {
  std::size_t first, nodes, gpu, gpus;
  FERRY_HOST_DEVICE void operator()(std::size_t i, particles_out p) const {
    const std::size_t k = first + i;
    const particle born = newcomer(gpus * k + gpu, nodes);
    p.get<X>(k) = born.x, p.get<Y>(k) = born.y, p.get<U>(k) = born.u, p.get<V>(k) = born.v;
  }
};

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

// A sweep over the inner nodes. Index 0 is node (1, 1) in the other arrays.
struct relax {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> rho,
                                    fr::mdspan<const double, 2> phi, fr::mdspan<double, 2> inside) const {
    inside(i, j) =
        (phi(i, j + 1) + phi(i + 2, j + 1) + phi(i + 1, j) + phi(i + 1, j + 2) + charge * rho(i + 1, j + 1)) / 4;
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
  const fr::team gpus = fr::team::all();
  const std::size_t many = gpus.size();
  const auto share_of = [many](std::size_t m, std::size_t all) { return (all + many - 1 - m) / many; };
  std::vector<fr::device_array<double, 2>> rho, phi, next;
  std::vector<fr::device_soa<double, double, double, double>> particles;
  for (std::size_t m = 0; m < many; ++m) {
    const fr::device gpu = gpus.device(m);
    for (auto* grids : {&rho, &phi, &next}) grids->emplace_back(fr::extents<2>{n, n}, 0.0, gpu);
    particles.emplace_back(share_of(m, crowd * n * n), gpu);
    fr::parallel_for(gpus[m], particles[m].size(), enter{0, n, m, many}, fr::out(particles[m]));
  }

  const porting::stopwatch watch;
  std::size_t count = crowd * n * n;
  for (std::size_t step = 0; step < p.steps; ++step) {
    count += n;
    for (std::size_t m = 0; m < many; ++m) {
      const std::size_t before = particles[m].size(), after = share_of(m, count);
      if (after > particles[m].capacity()) particles[m].reserve(2 * after);  // as vectors do by themselves
      particles[m].resize(after);
      fr::parallel_for(gpus[m], after - before, enter{before, n, m, many}, fr::inout(particles[m]));
      fr::fill(gpus[m], rho[m], 0.0);
      fr::parallel_for(gpus[m], after, deposit{}, fr::in(particles[m]), fr::inout(rho[m]));
    }
    fr::all_reduce(gpus, rho, fr::plus{});
    for (std::size_t m = 0; m < many; ++m) {
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        auto inside = next[m].slice({{1, n - 1}, {1, n - 1}});
        fr::parallel_for(gpus[m], inside.extents(), relax{}, fr::in(rho[m]), fr::in(phi[m]), fr::out(inside));
        std::swap(phi[m], next[m]);
      }
      fr::parallel_for(gpus[m], particles[m].size(), push{}, fr::in(phi[m]), fr::inout(particles[m]));
    }
  }
  gpus.synchronize();
  const double seconds = watch.seconds();
  std::vector<double> values = fr::to_vector(rho[0]);
  for (const double potential : fr::to_vector(phi[0])) values.push_back(potential);
  std::vector<std::vector<double>> x, y;
  for (const auto& own : particles)
    x.push_back(fr::to_vector(own.member<X>())), y.push_back(fr::to_vector(own.member<Y>()));
  for (std::size_t k = 0; k < count; ++k)
    values.push_back(x[k % many][k / many]), values.push_back(y[k % many][k / many]);
  return {values, seconds};
}

}  // namespace step_5
