#include "simulation.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <ferry/ferry.hpp>

namespace fr = ferry;
namespace {

using clock_type = std::chrono::steady_clock;

fr::team first_devices(std::size_t most, std::size_t rows) {
  const auto all = fr::devices();
  fr::team t(all.subspan(0, std::min({most, all.size(), rows})));
  const bool is_simulated = fr::runtime::current().is_simulated();
  if (t.size() > 1 && !is_simulated) t.submit(fr::submission::by_threads);  // steps are short
  return t;
}

FERRY_FUNCTOR(value, {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const double, 2> depth) const {
    return depth(i, j);
  }
});

// Counts completed steps. Waits for them only at the end.
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
  const fr::team gpus = first_devices(devices, grid[0]);
  using field = fr::sharded_array<double, 2>;
  field terrain(gpus, grid, {.halo = 1}), water(gpus, grid, {.halo = 1}), lost(gpus, grid);
  fr::sharded_array<outflow, 2> flux(gpus, grid, {.halo = 1});
  terrain.name("terrain"), water.name("water"), lost.name("lost"), flux.name("flux");

  fr::parallel_for(fr::owned(water), prepare{s.refine}, fr::in(points), fr::out(terrain), fr::out(water), fr::out(flux),
                   fr::out(lost));
  fr::exchange_halos(terrain, water);

  step_counter counter(progress);
  auto begin = clock_type::now();
  for (std::size_t step = 0; step < s.steps; ++step) {
    fr::parallel_for(fr::owned(flux), accelerate{m}, fr::in(terrain), fr::in(water), fr::inout(flux));
    fr::exchange_halos(flux);
    fr::parallel_for(fr::owned(water), transport{m, s.rain_of(step)}, fr::in(flux), fr::inout(water), fr::inout(lost));
    fr::exchange_halos(water);
    counter.submitted(step + 1, gpus.stream(0));
    if (step > 0 || s.steps == 1) continue;
    gpus.synchronize();  // only for the time measurement
    begin = clock_type::now();
  }
  counter.finish();
  gpus.synchronize();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  const std::size_t timed = s.steps > 1 ? s.steps - 1 : 1;

  const auto total_water = fr::parallel_reduce(fr::owned(water), value{}, fr::plus{}, fr::in(water));
  const auto total_lost = fr::parallel_reduce(fr::owned(lost), value{}, fr::plus{}, fr::in(lost));
  flood f{fr::unified_array<double, 2>(grid),  fr::unified_array<double, 2>(grid), total_water, total_lost, gpus.size(),
          seconds / static_cast<double>(timed)};
  fr::copy(terrain, f.terrain);
  fr::copy(water, f.water);
  return f;
}
