// as: host
#include "serial.hpp"

#include <chrono>
#include <thread>

namespace {

template <class F, class... Spans>
void for_each_cell(const ferry::extents<2>& grid, const F& f, const Spans&... spans) {
  for (std::size_t i = 0; i < grid[0]; ++i)
    for (std::size_t j = 0; j < grid[1]; ++j) f(i, j, spans...);
}

std::vector<double> simulate(std::stop_token stop, ferry::mdspan<const std::int16_t, 2> points, const model& m,
                             const storm& s, std::atomic<std::size_t>& steps_done) {
  const auto grid = s.grid({points.extent(0), points.extent(1)});
  std::vector<double> terrain(grid.count()), water(grid.count()), lost(grid.count());
  std::vector<outflow> flux(grid.count());
  const auto span = [&]<class T>(std::vector<T>& v) {
    return ferry::shard_span<T, 2>(ferry::mdspan<T, 2>(v.data(), grid, row_major(grid)));
  };
  const auto read_span = [&]<class T>(std::vector<T>& v) { return ferry::shard_span<const T, 2>(span(v)); };

  for_each_cell(grid, prepare{s.refine}, points, span(terrain), span(water), span(flux), span(lost));
  for (std::size_t step = 0; step < s.steps && !stop.stop_requested(); ++step) {
    for_each_cell(grid, accelerate{m}, read_span(terrain), read_span(water), span(flux));
    for_each_cell(grid, transport{m, s.rain_of(step)}, read_span(flux), span(water), span(lost));
    steps_done = step + 1;
  }
  return water;
}

}  // namespace

serial_run::serial_run(ferry::mdspan<const std::int16_t, 2> points, const model& m, const storm& s) {
  std::packaged_task<std::vector<double>(std::stop_token)> task(
      [this, points, m, s](std::stop_token stop) { return simulate(stop, points, m, s, steps_done_); });
  water_ = task.get_future();
  thread_ = std::jthread(std::move(task));
}

std::vector<double> serial_run::water(const std::function<void(std::size_t)>& progress) {
  while (water_.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) progress(steps_done_);
  progress(steps_done_);
  return water_.get();
}
