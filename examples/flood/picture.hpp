// The picture of terrain and water, as a file.
#pragma once
#include <string>

#include <ferry/core/mdspan.hpp>

struct picture_options {
  double cell_height, cell_width;  // m
  std::size_t smoothing = 1;       // cells over which the slope for the shading is taken
};

// Draws the terrain with hillshading, the water in blue on top, and a legend. Throws ferry::error if the file cannot be
// written.
void write_picture(const std::string& file, ferry::mdspan<const double, 2> terrain,
                   ferry::mdspan<const double, 2> water, const picture_options& how);
