// The gas of all steps: cells of a mesh of triangles in a box with walls, with high pressure in a disc. The formulas
// are those of examples/euler.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../euler/euler.hpp"

class box {
 public:
  static constexpr double courant = 0.5;
  std::vector<int> neighbours;  // 3 a cell: another cell, or euler::boundary::wall
  std::vector<double> normals;  // 6 a cell: x and y of each side's normal, as long as the side
  std::vector<double> areas;
  std::vector<double> states;  // 4 a cell, at the start

  std::size_t cells() const { return areas.size(); }

  // Of n x n quadrangles, each divided into two cells.
  explicit box(std::size_t n) {
    const auto cell = [n](std::size_t i, std::size_t j, int part) {  // 0 - 1 wraps, and is outside, too
      return i < n && j < n ? static_cast<int>(2 * (i * n + j)) + part : euler::boundary::wall;
    };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const point a = place(i, j, n), b = place(i, j + 1, n), c = place(i + 1, j + 1, n), d = place(i + 1, j, n);
        add(a, b, c, {cell(i - 1, j, 1), cell(i, j + 1, 1), cell(i, j, 1)});
        add(a, c, d, {cell(i, j, 0), cell(i + 1, j, 0), cell(i, j - 1, 0)});
      }
  }

 private:
  struct point {
    double x, y;
  };
  // Points inside are moved, so that no two cells are alike.
  static point place(std::size_t i, std::size_t j, std::size_t n) {
    const auto k = static_cast<double>(i * (n + 1) + j);
    const auto moved = [](double x) { return 0.4 * (x - std::floor(x) - 0.5); };
    const bool is_inside = i > 0 && j > 0 && i < n && j < n;
    const double right = is_inside ? moved(0.7548776662466927 * k) : 0,
                 up = is_inside ? moved(0.5698402909980532 * k) : 0;
    return {(static_cast<double>(j) + right) / static_cast<double>(n),
            (static_cast<double>(i) + up) / static_cast<double>(n)};
  }
  void add(point a, point b, point c, std::initializer_list<int> behind) {
    neighbours.insert(neighbours.end(), behind);
    normals.insert(normals.end(), {b.y - a.y, a.x - b.x, c.y - b.y, b.x - c.x, a.y - c.y, c.x - a.x});
    areas.push_back(((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)) / 2);
    const bool is_in_disc = std::hypot((a.x + b.x + c.x) / 3 - 0.4, (a.y + b.y + c.y) / 3 - 0.5) < 0.2;
    states.insert(states.end(), {1, 0, 0, (is_in_disc ? 10 : 1) / (euler::state::gamma - 1)});
  }
};
