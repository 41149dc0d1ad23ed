#pragma once
#include <string>

#include <ferry/core/mdspan.hpp>

struct picture_options {
  double cell_height, cell_width;  // m
  std::size_t smoothing = 1;       // cells over which the slope for the shading is taken
};

// Hillshade of the terrain, the water over it in blue, and a legend. Throws ferry::error when the file cannot be written.
void write_picture(const std::string& file, ferry::mdspan<const double, 2> terrain,
                   ferry::mdspan<const double, 2> water, const picture_options& how);
