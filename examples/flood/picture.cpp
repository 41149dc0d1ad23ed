// as: host
#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <ferry/core/error.hpp>

#include "canvas.hpp"
#include "colors.hpp"

namespace {

using field = ferry::mdspan<const double, 2>;

// Light from the north-west. The slope is averaged over several cells, because otherwise the facets of the refined
// terrain are visible.
double shade(const field& z, std::size_t i, std::size_t j, const picture_options& how) {
  const auto slope = [&](std::size_t at, std::size_t n, double length, auto height) {
    const std::size_t before = at > how.smoothing ? at - how.smoothing : 0, after = std::min(at + how.smoothing, n - 1);
    return after > before ? (height(after) - height(before)) / (static_cast<double>(after - before) * length) : 0;
  };
  const double south = slope(i, z.extent(0), how.cell_height, [&](std::size_t r) { return z(r, j); });
  const double east = slope(j, z.extent(1), how.cell_width, [&](std::size_t c) { return z(i, c); });
  constexpr double exaggeration = 1.8;
  const double x = -exaggeration * east, y = -exaggeration * south;
  return std::max(0.0, (-0.5 * x - 0.5 * y + 0.707) / std::sqrt(x * x + y * y + 1));
}

}  // namespace

void write_picture(const std::string& file, field terrain, field water, const picture_options& how) {
  const std::size_t rows = terrain.extent(0), columns = terrain.extent(1);
  double low = terrain(0, 0), high = low;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) low = std::min(low, terrain(i, j)), high = std::max(high, terrain(i, j));

  const double height_m = static_cast<double>(rows) * how.cell_height;
  const double width_m = static_cast<double>(columns) * how.cell_width;
  constexpr std::size_t map_width = 1040, legend_width = 160;
  const std::size_t map_height = std::clamp<std::size_t>(std::size_t(map_width * height_m / width_m), 720, 2000);
  canvas c(map_width + legend_width, map_height);

  // Each pixel is the mean colour of the cells in it, of at least 2 x 2 points.
  const auto samples = [](std::size_t cells, std::size_t pixels) {
    return std::max<std::size_t>(2, (cells + pixels - 1) / pixels);
  };
  const std::size_t sy = samples(rows, map_height), sx = samples(columns, map_width);
  std::vector<color> line(columns);
  for (std::size_t y = 0; y < map_height; ++y)
    for (std::size_t v = 0; v < sy; ++v) {
      const std::size_t i = (y * sy + v) * rows / (map_height * sy);
      for (std::size_t j = 0; j < columns; ++j) {
        const color ground = terrain_color((terrain(i, j) - low) / std::max(1.0, high - low));
        line[j] = under_water(ground * shade_factor(shade(terrain, i, j, how)), water(i, j));
      }
      for (std::size_t x = 0; x < map_width; ++x)
        for (std::size_t u = 0; u < sx; ++u)
          c.add(x, y, line[(x * sx + u) * columns / (map_width * sx)] * (1.0 / static_cast<double>(sx * sy)));
    }
  draw_legend(c, map_width, low, high, width_m / map_width);

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  image.width = static_cast<png_uint_32>(c.width());
  image.height = static_cast<png_uint_32>(c.height());
  const auto bytes = c.rgb();
  if (!png_image_write_to_file(&image, file.c_str(), 0, bytes.data(), 0, nullptr))
    throw ferry::error("cannot write '" + file + "': " + image.message);
}
