// Teams of the first devices, and the times of a team's steps.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <ferry/multigpu.hpp>

#include "rounds.hpp"

namespace benchmarks {

inline ferry::team first_devices(std::size_t count, ferry::submission how = ferry::submission::by_caller) {
  ferry::team t(ferry::devices().subspan(0, count));
  t.submit(how);
  return t;
}

// 1, 2, 4, ... devices, up to the number available.
inline std::vector<std::size_t> team_sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t n = 1; n <= ferry::devices().size(); n *= 2) sizes.push_back(n);
  return sizes;
}

// CPU time of steps, from an idle team until it is idle again. `body(n)` enqueues n steps.
template <class F>
timed team_steps(ferry::team t, F body) {
  return [=](std::size_t n) mutable {
    t.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    body(n);
    t.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

// The team of the first local member alone.
inline ferry::team alone(const ferry::team& t) {
  const ferry::device own = t.device(t.first_local());
  return ferry::team(std::span<const ferry::device>(&own, 1));
}

// The time of the slowest process: all processes of a team then choose the same numbers of repetitions.
inline timed of_slowest(ferry::team t, timed body) {
  if (t.local_size() == t.size()) return body;
  return [=](std::size_t n) {
    std::vector<ferry::device_array<double>> seconds;
    const double own = body(n);
    for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
      seconds.emplace_back(ferry::extents<1>{1}, own, t.device(m));
    ferry::all_reduce(t, seconds, ferry::maximum{});
    return ferry::to_vector(seconds[0])[0];
  };
}

inline std::string of_devices(std::size_t n) { return std::to_string(n) + (n == 1 ? " GPU" : " GPUs"); }

}  // namespace benchmarks
