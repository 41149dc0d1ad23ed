// A channel with round obstacles, and the flow through it.
#pragma once
#include <cstddef>
#include <vector>

struct channel {
  std::size_t rows, columns;
  double inflow = 0.06;   // cells a step
  double reynolds = 100;  // of the largest obstacle
  double radius() const { return static_cast<double>(rows) / 9; }
  double rate() const { return 1 / (3 * inflow * 2 * radius() / reynolds + 0.5); }
  // 1 in the walls at the top and at the bottom, and in the obstacles. Row-major.
  std::vector<unsigned char> solid() const;
};
