// as: host
#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ferry/core/error.hpp>

void write_vorticity(const std::string& file, const channel& c, const std::vector<double>& velocity) {
  const std::vector<unsigned char> solid = c.solid();
  const double strongest = c.inflow / c.radius();
  const double* const u = velocity.data();
  const double* const v = velocity.data() + c.rows * c.columns;
  std::vector<std::uint8_t> rgb;
  rgb.reserve(3 * solid.size());
  for (std::size_t i = 0; i < c.rows; ++i)
    for (std::size_t j = 0; j < c.columns; ++j) {
      const std::size_t k = i * c.columns + j;
      if (solid[k]) {
        rgb.insert(rgb.end(), {70, 72, 78});
        continue;
      }
      const std::size_t left = k - (j > 0), right = k + (j + 1 < c.columns);
      const double turn = (u[k + c.columns] - u[k - c.columns]) - (v[right] - v[left]);
      const double t = std::tanh(turn / strongest), pale = 1 - std::abs(t);
      const auto level = [](double x) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(x, 0., 1.))); };
      rgb.push_back(level(t > 0 ? 0.85 * (1 - pale) + 0.97 * pale : 0.13 * (1 - pale) + 0.97 * pale));
      rgb.push_back(level(t > 0 ? 0.20 * (1 - pale) + 0.96 * pale : 0.36 * (1 - pale) + 0.96 * pale));
      rgb.push_back(level(t > 0 ? 0.18 * (1 - pale) + 0.94 * pale : 0.75 * (1 - pale) + 0.94 * pale));
    }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(c.columns), image.height = static_cast<png_uint_32>(c.rows);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&image, file.c_str(), 0, rgb.data(), 0, nullptr))
    throw ferry::invalid_argument("the picture '" + file + "' cannot be written: " + image.message);
}
