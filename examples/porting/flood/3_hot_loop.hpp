// 3. The first hot loop becomes a functor, which the GPU runs. The second one still runs on the CPU, which waits for
// it.
#include <ferry/core.hpp>

#include "../support/porting.hpp"

namespace fr = ferry;
namespace step_3 {
namespace {

constexpr double time_step = 0.1, gain = 0.981;  // s; what one metre of drop adds to a flux in one step, m3/s
constexpr double rain = 1e-3;                    // m a step

struct outflow {  // of a cell, m3/s
  double up = 0, down = 0, left = 0, right = 0;
  constexpr double sum() const { return up + down + left + right; }
};

// Height of the ground of an n x n valley, m.
constexpr double ground(std::size_t i, std::size_t j, std::size_t n) {
  const double x = static_cast<double>(j) / static_cast<double>(n) - 0.5;
  return 20 * x * x + static_cast<double>((7 * i + 13 * j) % 17) / 10 - static_cast<double>(i) / 50;
}

// Clamps the flux at 0: water never flows backwards.
constexpr double pushed(double flux, double drop) {
  const double more = flux + gain * drop;
  return more > 0 ? more : 0;
}

// Pressure drives the fluxes; outflow is limited to the water in the cell.
struct accelerate {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> t,
                                    fr::mdspan<const double, 2> w, fr::mdspan<outflow, 2> q) const {
    const std::size_t rows = t.extent(0), columns = t.extent(1);
    const double depth = w(i, j), level = t(i, j) + depth;
    const auto drop = [&](std::size_t r, std::size_t c) {  // 0 - 1 wraps, and is outside, too
      return r < rows && c < columns ? level - t(r, c) - w(r, c) : depth;
    };
    outflow f = q(i, j);
    f = {pushed(f.up, drop(i - 1, j)), pushed(f.down, drop(i + 1, j)), pushed(f.left, drop(i, j - 1)),
         pushed(f.right, drop(i, j + 1))};
    const double wanted = time_step * f.sum(), k = wanted > depth ? depth / wanted : 1;
    q(i, j) = {k * f.up, k * f.down, k * f.left, k * f.right};
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  fr::unified_array<double, 2> terrain({n, n}), water({n, n}, 0.0), lost({n, n}, 0.0);
  fr::unified_array<outflow, 2> flux({n, n}, outflow{});
  terrain.name("terrain"), water.name("water"), lost.name("lost"), flux.name("flux");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) terrain(i, j) = ground(i, j, n);

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::parallel_for(flux.extents(), accelerate{}, fr::in(terrain), fr::in(water), fr::inout(flux));
    const auto w = fr::host_span(water), l = fr::host_span(lost);
    const auto q = fr::host_span(std::as_const(flux));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {  // the fluxes and the rain change the depth
        const outflow f = q[at(i, j)];
        double in = 0, gone = 0;
        i > 0 ? in += q[at(i - 1, j)].down : gone += f.up;
        i + 1 < n ? in += q[at(i + 1, j)].up : gone += f.down;
        j > 0 ? in += q[at(i, j - 1)].right : gone += f.left;
        j + 1 < n ? in += q[at(i, j + 1)].left : gone += f.right;
        const double depth = w[at(i, j)] + rain + time_step * (in - f.sum());
        w[at(i, j)] = depth > 0 ? depth : 0;  // rounding may give -1e-18
        l[at(i, j)] += time_step * gone;
      }
  }
  const double seconds = watch.seconds();
  std::vector<double> values(water.cbegin(), water.cend());
  values.insert(values.end(), lost.cbegin(), lost.cend());
  return {values, seconds};
}

}  // namespace step_3
