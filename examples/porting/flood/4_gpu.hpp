// 4. Every loop runs on the GPU, and the CPU does not access the arrays any more: they become device arrays.
#include <ferry/core.hpp>

#include "../support/porting.hpp"

namespace fr = ferry;
namespace step_4 {
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

// Sets the ground, without water.
struct prepare {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<double, 2> t, fr::mdspan<double, 2> w,
                                    fr::mdspan<outflow, 2> q, fr::mdspan<double, 2> l) const {
    t(i, j) = ground(i, j, t.extent(0));
    q(i, j) = {};
    w(i, j) = l(i, j) = 0;
  }
};

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

// The fluxes and the rain change the depth.
struct transport {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const outflow, 2> q,
                                    fr::mdspan<double, 2> w, fr::mdspan<double, 2> l) const {
    const std::size_t rows = q.extent(0), columns = q.extent(1);
    const outflow f = q(i, j);
    double in = 0, gone = 0;
    i > 0 ? in += q(i - 1, j).down : gone += f.up;
    i + 1 < rows ? in += q(i + 1, j).up : gone += f.down;
    j > 0 ? in += q(i, j - 1).right : gone += f.left;
    j + 1 < columns ? in += q(i, j + 1).left : gone += f.right;
    const double depth = w(i, j) + rain + time_step * (in - f.sum());
    w(i, j) = depth > 0 ? depth : 0;  // rounding may give -1e-18
    l(i, j) += time_step * gone;
  }
};

}  // namespace

porting::result run(const porting::problem& p) {
  const std::size_t n = p.size;
  fr::device_array<double, 2> terrain({n, n}), water({n, n}), lost({n, n});
  fr::device_array<outflow, 2> flux({n, n});
  terrain.name("terrain"), water.name("water"), lost.name("lost"), flux.name("flux");
  fr::parallel_for(flux.extents(), prepare{}, fr::out(terrain), fr::out(water), fr::out(flux), fr::out(lost));

  const porting::stopwatch watch;
  for (std::size_t step = 0; step < p.steps; ++step) {
    fr::parallel_for(flux.extents(), accelerate{}, fr::in(terrain), fr::in(water), fr::inout(flux));
    fr::parallel_for(flux.extents(), transport{}, fr::in(flux), fr::inout(water), fr::inout(lost));
  }
  fr::default_stream(water.device()).synchronize();
  const double seconds = watch.seconds();
  std::vector<double> values = fr::to_vector(water);
  const std::vector<double> gone = fr::to_vector(lost);
  values.insert(values.end(), gone.begin(), gone.end());
  return {values, seconds};
}

}  // namespace step_4
