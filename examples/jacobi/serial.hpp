// The same solver on one core, to compare results with.
#pragma once
#include <cstddef>
#include <vector>

struct serial_result {
  std::vector<float> field;
  std::vector<double> norms;
};

// The same method in plain loops on one core.
serial_result solve_serially(std::size_t ny, std::size_t nx, std::size_t iterations);
