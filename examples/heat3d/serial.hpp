// The same solver on one core, to compare results with.
#pragma once
#include <cstddef>
#include <vector>

// A block of n x m x l cells. The face before the first cell of axis 0 is warm, that after the last one cold; the other
// faces are insulated.
struct block {
  std::size_t n, m, l;
  double rate = 0.12;
  double warm = 1, cold = 0;
  double radius() const { return 0.2 * static_cast<double>(n < m ? n : m); }
};

// Returns the temperatures after some steps, in row-major order.
std::vector<double> solve_serially(const block& b, std::size_t steps);
