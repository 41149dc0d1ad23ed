// as: host
#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ferry/core/error.hpp>

namespace {

constexpr std::size_t samples = 2;  // of a pixel, in each direction
using color = std::array<double, 3>;

// The colours of matplotlib's viridis, for 0 to 1.
color color_of(double t) {
  constexpr color stops[] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double at = 4 * std::clamp(t, 0., 1.);
  const auto stop = std::min<std::size_t>(3, static_cast<std::size_t>(at));
  const double part = at - static_cast<double>(stop);
  color c{};
  for (std::size_t k = 0; k < 3; ++k) c[k] = (1 - part) * stops[stop][k] + part * stops[stop + 1][k];
  return c;
}

// Samples of a picture of a rectangle.
struct canvas {
  mesh::point low, high;
  std::size_t width, height;
  std::vector<color> at;

  canvas(mesh::point l, mesh::point h, std::size_t pixels)
      : low(l),
        high(h),
        width(samples * pixels),
        height(samples *
               std::clamp<std::size_t>(
                   static_cast<std::size_t>((h.y - l.y) * static_cast<double>(pixels) / (h.x - l.x)), 1, 8000)),
        at(width * height, color{70, 72, 78}) {}
  double column(double x) const { return (x - low.x) / (high.x - low.x) * static_cast<double>(width); }
  double row(double y) const { return (high.y - y) / (high.y - low.y) * static_cast<double>(height); }

  // All samples whose centres are in the triangle.
  void draw(std::array<mesh::point, 3> p, const color& c) {
    for (mesh::point& q : p) q = {column(q.x), row(q.y)};
    const auto first = [](double x) { return static_cast<std::size_t>(std::max(0., std::floor(x))); };
    const auto [left, right] = std::minmax({p[0].x, p[1].x, p[2].x});
    const auto [top, bottom] = std::minmax({p[0].y, p[1].y, p[2].y});
    for (std::size_t i = first(top); i < std::min(height, first(bottom) + 1); ++i)
      for (std::size_t j = first(left); j < std::min(width, first(right) + 1); ++j) {
        const double x = static_cast<double>(j) + 0.5, y = static_cast<double>(i) + 0.5;
        const auto is_inside = [&](const mesh::point& a, const mesh::point& b) {
          return (b.x - a.x) * (y - a.y) <= (x - a.x) * (b.y - a.y);
        };
        if (is_inside(p[0], p[1]) && is_inside(p[1], p[2]) && is_inside(p[2], p[0])) at[i * width + j] = c;
      }
  }
  std::vector<std::uint8_t> rgb() const {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < height; i += samples)
      for (std::size_t j = 0; j < width; j += samples)
        for (std::size_t k = 0; k < 3; ++k) {
          double sum = 0;
          for (std::size_t v = 0; v < samples; ++v)
            for (std::size_t u = 0; u < samples; ++u) sum += at[(i + v) * width + j + u][k];
          bytes.push_back(static_cast<std::uint8_t>(std::lround(sum / (samples * samples))));
        }
    return bytes;
  }
};

}  // namespace

void write_picture(const std::string& file, const mesh& m, std::span<const int> order, std::span<const double> values) {
  const auto [left, right] = std::ranges::minmax(m.points, {}, &mesh::point::x);
  const auto [bottom, top] = std::ranges::minmax(m.points, {}, &mesh::point::y);
  const auto [least, greatest] = std::ranges::minmax(values);
  canvas c({left.x, bottom.y}, {right.x, top.y}, 1400);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::array<mesh::point, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const int corner = m.triangles[static_cast<std::size_t>(order[i])][k];
      corners[k] = m.points[static_cast<std::size_t>(corner)];
    }
    c.draw(corners, color_of((values[i] - least) / std::max(greatest - least, 1e-300)));
  }
  const std::vector<std::uint8_t> rgb = c.rgb();
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(c.width / samples),
  image.height = static_cast<png_uint_32>(c.height / samples);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&image, file.c_str(), 0, rgb.data(), 0, nullptr))
    throw ferry::invalid_argument("the picture '" + file + "' cannot be written: " + image.message);
}
