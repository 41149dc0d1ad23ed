// The rain of each step.
#pragma once
#include <ferry/core/extents.hpp>

// The amount of rain, and the terrain's refinement.
struct storm {
  std::size_t refine, steps;
  double rain;  // m, in the first half of the steps
  double rain_of(std::size_t step) const {
    return step < rainy_steps() ? rain / static_cast<double>(rainy_steps()) : 0;
  }
  std::size_t rainy_steps() const { return (steps + 1) / 2; }
  // The extents of the grid over the measured points.
  ferry::extents<2> grid(const ferry::extents<2>& points) const {
    return {(points[0] - 1) * refine + 1, (points[1] - 1) * refine + 1};
  }
};
