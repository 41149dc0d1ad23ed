// Colours of terrain heights and water depths.
#pragma once
#include "canvas.hpp"

color terrain_color(double height);             // 0 lowest, 1 highest
double shade_factor(double light);              // 0 dark, 1 full light
color under_water(color ground, double depth);  // m

// Draws the legend to the right of the map, which ends at x and has the given number of metres per pixel.
void draw_legend(canvas& c, std::size_t x, double low, double high, double metres_per_pixel);
