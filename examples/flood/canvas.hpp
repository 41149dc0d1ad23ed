// A raster image, with text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

struct color {
  double r = 0, g = 0, b = 0;  // 0 to 1
  friend color operator*(color c, double f) { return {c.r * f, c.g * f, c.b * f}; }
  friend color operator+(color x, color y) { return {x.r + y.r, x.g + y.g, x.b + y.b}; }
};
inline color mix(color a, color b, double t) { return a * (1 - t) + b * t; }

class canvas {
 public:
  canvas(std::size_t width, std::size_t height) : width_(width), height_(height), pixels_(width * height) {}
  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  void add(std::size_t x, std::size_t y, color c) { at(x, y) = at(x, y) + c; }
  // Clips what is outside the picture.
  void rectangle(std::size_t x, std::size_t y, std::size_t width, std::size_t height, color c) {
    for (std::size_t v = y; v < y + height && v < height_; ++v)
      for (std::size_t u = x; u < x + width && u < width_; ++u) at(u, v) = c;
  }
  // Glyphs of 5 x 7 dots, each of `scale` pixels: digits, the dot, and the letters that the legend needs.
  void text(std::size_t x, std::size_t y, std::string_view text, color c, std::size_t scale = 2);
  std::vector<std::uint8_t> rgb() const;

 private:
  color& at(std::size_t x, std::size_t y) { return pixels_[y * width_ + x]; }
  std::size_t width_, height_;
  std::vector<color> pixels_;
};
