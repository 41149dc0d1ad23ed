// What the steps of all codes share: what they are given, what they give back, and the clock of their loop.
#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

namespace porting {

struct problem {
  std::size_t size, steps;  // cells or nodes along each side; time steps, or iterations
};

struct result {
  std::vector<double> values;  // what the step worked out: compared with that of the first step
  double seconds = 0;          // from the first time step until the devices are through with the last
  std::size_t steps = 0;       // done, where that can be less than allowed
};

class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace porting
