// as: host
#include "serial.hpp"

#include <algorithm>

#include "euler.hpp"

serial_result solve_serially(const cells& c, double mach, double courant, std::size_t steps) {
  using euler::state;
  const state inflow = state::moving(mach);
  std::vector<double> now(4 * c.size()), next(4 * c.size());
  const auto of_now = [&](std::size_t i, std::size_t k) -> double& { return now[4 * i + k]; };
  const auto of_next = [&](std::size_t i, std::size_t k) -> double& { return next[4 * i + k]; };
  const auto normal = [&](std::size_t i, std::size_t k) { return c.normals[6 * i + k]; };
  double fastest = 0, time = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    inflow.put(of_now, i);
    fastest = std::max(fastest, euler::cell::of(normal, c.areas[i], i).rate(inflow));
  }
  for (std::size_t s = 0; s < steps; ++s) {
    const double time_step = courant / fastest;
    time += time_step;
    fastest = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const auto here = euler::cell::of(normal, c.areas[i], i);
      const state after = here.advanced(
          state::of(of_now, i), time_step, inflow,
          [&](int k) { return c.neighbours[3 * i + static_cast<std::size_t>(k)]; },
          [&](std::size_t other) { return state::of(of_now, other); });
      after.put(of_next, i);
      fastest = std::max(fastest, here.rate(after));
    }
    std::swap(now, next);
  }
  return {std::move(now), time};
}
