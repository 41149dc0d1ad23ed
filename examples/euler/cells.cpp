// as: host
#include "cells.hpp"

cells cells_of(const mesh& m, std::span<const int> order) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  cells c;
  for (const int triangle : order) {
    const auto t = static_cast<std::size_t>(triangle);
    const auto corner = [&](std::size_t k) { return m.points[static_cast<std::size_t>(m.triangles[t][k % 3])]; };
    for (std::size_t k = 0; k < 3; ++k) {
      const int other = m.neighbours[t][k];
      c.neighbours.push_back(other < 0 ? other : place[static_cast<std::size_t>(other)]);
      const mesh::point a = corner(k), b = corner(k + 1);
      c.normals.push_back(b.y - a.y);
      c.normals.push_back(a.x - b.x);
    }
    const mesh::point a = corner(0), b = corner(1), d = corner(2);
    c.areas.push_back(((b.x - a.x) * (d.y - a.y) - (d.x - a.x) * (b.y - a.y)) / 2);
  }
  return c;
}
