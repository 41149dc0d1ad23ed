// Shared by all codes' steps: their input, their result, and the clock of their loop.
#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

namespace porting {

struct problem {
  std::size_t size, steps;  // cells or nodes along each side; time steps, or iterations
};

struct result {
  std::vector<double> values;  // the step's result, compared with that of the first step
  double seconds = 0;          // from the first time step until the devices have completed the last one
  std::size_t steps = 0;       // completed steps, if fewer than allowed are possible
};

class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace porting
