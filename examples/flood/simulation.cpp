#include "simulation.hpp"

#include <algorithm>
#include <deque>
#include <ferry/ferry.hpp>
#include <numeric>

namespace fr = ferry;
namespace {

// What one device works on: its own rows of the grid, and those with the rows beside them.
struct strip {
  fr::stream stream;
  fr::slice own, halo;
  std::size_t above;  // rows of the halo before the first own row
  fr::extents<2> shape;
};

std::vector<strip> cut(const fr::extents<2>& grid, std::size_t devices) {
  const std::size_t rows = grid[0], n = std::min({devices, fr::devices().size(), rows});
  std::vector<strip> strips;
  for (std::size_t d = 0; d < n; ++d) {
    const std::size_t first = rows * d / n, end = rows * (d + 1) / n, above = first > 0;
    strips.push_back({fr::stream(fr::devices()[d]),
                      {first, end},
                      {first - above, std::min(end + 1, rows)},
                      above,
                      {end - first, grid[1]}});
  }
  return strips;
}

struct value {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, read_cells depth) const { return depth(i, j); }
};

// Each device sums its own rows; only then does the CPU wait.
double total(const std::vector<strip>& strips, const fr::unified_array<double, 2>& a) {
  std::vector<fr::scalar<double>> parts;
  for (const strip& s : strips)
    parts.push_back(fr::parallel_reduce(s.stream, s.shape, value{}, fr::plus{}, fr::in(a.slice(s.own))));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

// Counts steps that are over, without waiting for any but at the end.
class step_counter {
 public:
  explicit step_counter(const std::function<void(std::size_t)>& tell) : tell_(tell) {}
  void submitted(std::size_t steps, fr::stream_ref s) {
    pending_.push_back({steps, s.record()});
    while (!pending_.empty() && pending_.front().end.is_done()) pop();
  }
  void finish() {
    for (; !pending_.empty(); pop()) pending_.front().end.synchronize();
  }

 private:
  struct mark {
    std::size_t steps;
    fr::event end;
  };
  void pop() {
    tell_(pending_.front().steps);
    pending_.pop_front();
  }
  const std::function<void(std::size_t)>& tell_;
  std::deque<mark> pending_;
};

}  // namespace

flood simulate(const terrain_points& points, const model& m, const storm& s, std::size_t devices,
               const std::function<void(std::size_t)>& progress) {
  const auto grid = s.grid(points.extents());
  fr::unified_array<double, 2> terrain(grid), water(grid), lost(grid);
  fr::unified_array<outflow, 2> flux(grid);
  terrain.name("terrain"), water.name("water"), lost.name("lost"), flux.name("flux");

  const std::vector<strip> strips = cut(grid, devices);
  for (const strip& d : strips)
    fr::parallel_for(d.stream, d.shape, prepare{d.own.begin, s.refine}, fr::in(points), fr::out(terrain.slice(d.own)),
                     fr::out(water.slice(d.own)), fr::out(flux.slice(d.own)), fr::out(lost.slice(d.own)));

  step_counter counter(progress);
  for (std::size_t step = 0; step < s.steps; ++step) {
    for (const strip& d : strips)
      fr::parallel_for(d.stream, d.shape, accelerate{m, d.above}, fr::in(terrain.slice(d.halo)),
                       fr::in(water.slice(d.halo)), fr::inout(flux.slice(d.own)));
    for (const strip& d : strips)
      fr::parallel_for(d.stream, d.shape, transport{m, d.above, s.rain_of(step)}, fr::in(flux.slice(d.halo)),
                       fr::inout(water.slice(d.own)), fr::inout(lost.slice(d.own)));
    counter.submitted(step + 1, strips.back().stream);
  }
  counter.finish();

  const double total_water = total(strips, water), total_lost = total(strips, lost);
  return {std::move(terrain), std::move(water), total_water, total_lost, strips.size()};
}
