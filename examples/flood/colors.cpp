// as: host
#include "colors.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr double shallow = 0.03, deep = 10;  // m; logarithmic colour scale in between
constexpr color paper{0.98, 0.97, 0.95}, ink{0.2, 0.2, 0.22};

color between(std::span<const color> stops, double t) {
  const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  return mix(stops[i], stops[i + 1], at - static_cast<double>(i));
}

double scale_of(double depth) { return std::log(depth / shallow) / std::log(deep / shallow); }
color water_color(double scale) {
  static constexpr color stops[] = {
      {0.66, 0.84, 0.93}, {0.36, 0.66, 0.88}, {0.13, 0.42, 0.76}, {0.04, 0.19, 0.50}, {0.02, 0.07, 0.27}};
  return between(stops, scale);
}

}  // namespace

color terrain_color(double height) {
  static constexpr color stops[] = {
      {0.74, 0.76, 0.68}, {0.80, 0.76, 0.66}, {0.72, 0.61, 0.48}, {0.60, 0.47, 0.36}, {0.80, 0.77, 0.74}};
  return between(stops, height);
}

double shade_factor(double light) { return 0.3 + 0.9 * light; }

color under_water(color ground, double depth) {
  if (depth <= shallow / 3) return ground;
  const double t = scale_of(depth), cover = std::clamp(0.35 + t, 0.0, 0.95);
  return mix(ground, water_color(t), cover);
}

void draw_legend(canvas& c, std::size_t x, double low, double high, double metres_per_pixel) {
  const std::size_t left = x + 20, bar = 28, length = 260;
  c.rectangle(x, 0, c.width() - x, c.height(), paper);
  // A vertical colour bar from 0 at the bottom to 1 at the top, with a label at each tick.
  const auto scale = [&](std::size_t top, const char* title, auto color_at, const auto& ticks) {
    c.text(left, top, title, ink);
    top += 28;
    for (std::size_t y = 0; y < length; ++y)
      c.rectangle(left, top + y, bar, 1, color_at(1 - static_cast<double>(y) / (length - 1)));
    for (const auto& [at, label] : ticks) {
      const std::size_t y = top + static_cast<std::size_t>((length - 1) * (1 - at) + 0.5);
      c.rectangle(left + bar, y, 6, 1, ink);
      c.text(left + bar + 12, y - 6, label, ink);
    }
  };
  using tick = std::pair<double, std::string>;

  std::vector<tick> depths;
  for (const char* label : {"0.03", "0.1", "0.3", "1", "3", "10"})
    depths.emplace_back(scale_of(std::stod(label)), label + std::string(" m"));
  const auto water_at = [](double t) { return under_water(terrain_color(0.3), shallow * std::pow(deep / shallow, t)); };
  scale(24, "water depth", water_at, depths);

  std::vector<tick> heights;
  for (const double t : {0.0, 0.25, 0.5, 0.75, 1.0})
    heights.emplace_back(t, std::to_string(std::lround(low + t * (high - low))) + " m");
  scale(354, "terrain", terrain_color, heights);

  // The longest of 1, 2, 5, 10... km or m that fits.
  double metres = 1;
  for (const double next : {2., 5., 10., 20., 50., 100., 200., 500., 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5})
    if (next / metres_per_pixel <= 120) metres = next;
  const auto pixels = static_cast<std::size_t>(metres / metres_per_pixel);
  const std::size_t y = c.height() - 30;
  c.rectangle(left, y, pixels, 3, ink);
  for (const std::size_t end : {left, left + pixels - 2}) c.rectangle(end, y - 6, 2, 9, ink);
  const std::string label =
      metres < 1000 ? std::to_string(std::lround(metres)) + " m" : std::to_string(std::lround(metres / 1000)) + " km";
  c.text(left, y - 26, label, ink);
}
