// Teams of the first devices, and the times of a team's steps.
#pragma once
#include <chrono>
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

inline std::string of_devices(std::size_t n) { return std::to_string(n) + (n == 1 ? " GPU" : " GPUs"); }

}  // namespace benchmarks
