// as: host
#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ferry/core/error.hpp>
#include <numeric>

namespace {

// One side of one triangle, or one of the boundary.
struct half_side {
  int low, high;  // points
  int triangle;   // -1: of the boundary
  int what;       // the number of the side in its triangle, or the kind of boundary
  bool operator<(const half_side& o) const {
    return low != o.low ? low < o.low : high != o.high ? high < o.high : triangle < o.triangle;
  }
  bool joins(const half_side& o) const { return low == o.low && high == o.high; }
};

std::string text(const mesh& m, const half_side& s) {
  const auto of = [&](int p) {
    const mesh::point& at = m.points[static_cast<std::size_t>(p)];
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ")";
  };
  return "the side from " + of(s.low) + " to " + of(s.high);
}

// The distance along the Hilbert curve through a square of 2^bits x 2^bits. Source: Warren, "Hacker's Delight", 2nd
// edition, chapter 16.
std::uint64_t hilbert_distance(std::uint32_t x, std::uint32_t y, int bits) {
  std::uint64_t distance = 0;
  for (std::uint32_t half = std::uint32_t{1} << (bits - 1); half > 0; half /= 2) {
    const bool right = x & half, up = y & half;
    distance += std::uint64_t{half} * half * ((3u * right) ^ up);
    if (up) continue;
    if (right) x = ~x, y = ~y;
    std::swap(x, y);
  }
  return distance;
}

}  // namespace

void connect(mesh& m) {
  std::vector<half_side> all;
  all.reserve(3 * m.triangles.size() + m.boundary.size());
  const auto add = [&](int a, int b, std::size_t triangle, int what) {
    all.push_back({std::min(a, b), std::max(a, b), static_cast<int>(triangle), what});
  };
  for (const mesh::side& s : m.boundary) add(s.ends[0], s.ends[1], static_cast<std::size_t>(-1), s.kind);
  for (std::size_t t = 0; t < m.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) add(m.triangles[t][k], m.triangles[t][(k + 1) % 3], t, static_cast<int>(k));
  std::sort(all.begin(), all.end());

  m.neighbours.assign(m.triangles.size(), {});
  const auto behind = [&](const half_side& s) -> int& {
    return m.neighbours[static_cast<std::size_t>(s.triangle)][static_cast<std::size_t>(s.what)];
  };
  for (std::size_t i = 0; i < all.size(); i += 2) {
    const half_side& a = all[i];
    if (i + 1 == all.size() || !a.joins(all[i + 1]))
      throw ferry::invalid_argument(text(m, a) + (a.triangle < 0
                                                      ? " is in the boundary, and in no triangle"
                                                      : " has one triangle only, and no physical name: name all "
                                                        "sides at the boundary inflow, outflow or wall"));
    const half_side& b = all[i + 1];
    if ((i + 2 < all.size() && b.joins(all[i + 2])) || b.triangle < 0)
      throw ferry::invalid_argument(text(m, a) + " has more than two triangles or names");
    behind(b) = a.triangle < 0 ? a.what : a.triangle;
    if (a.triangle >= 0) behind(a) = b.triangle;
  }
}

mesh refined(const mesh& coarse) {
  mesh fine;
  fine.points = coarse.points;
  const auto middle_of = [&](int a, int b) {
    const mesh::point &p = coarse.points[static_cast<std::size_t>(a)], &q = coarse.points[static_cast<std::size_t>(b)];
    fine.points.push_back({(p.x + q.x) / 2, (p.y + q.y) / 2});
    return static_cast<int>(fine.points.size() - 1);
  };
  std::vector<mesh::triangle> middle(coarse.triangles.size());
  for (std::size_t t = 0; t < middle.size(); ++t) {
    const mesh::triangle& corner = coarse.triangles[t];
    for (std::size_t k = 0; k < 3; ++k) {
      const int other = coarse.neighbours[t][k], a = corner[k], b = corner[(k + 1) % 3];
      if (other >= 0 && other < static_cast<int>(t)) {  // has it already: the side there is from b to a
        const mesh::triangle& there = coarse.triangles[static_cast<std::size_t>(other)];
        const auto place = std::find(there.begin(), there.end(), b) - there.begin();
        middle[t][k] = middle[static_cast<std::size_t>(other)][static_cast<std::size_t>(place)];
        continue;
      }
      middle[t][k] = middle_of(a, b);
      if (other >= 0) continue;
      fine.boundary.push_back({{a, middle[t][k]}, other});
      fine.boundary.push_back({{middle[t][k], b}, other});
    }
    const auto [ab, bc, ca] = middle[t];
    for (const mesh::triangle& part :
         {mesh::triangle{corner[0], ab, ca}, {ab, corner[1], bc}, {ca, bc, corner[2]}, {ab, bc, ca}})
      fine.triangles.push_back(part);
  }
  connect(fine);
  return fine;
}

std::vector<int> file_order(const mesh& m) {
  std::vector<int> order(m.triangles.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> hilbert_order(const mesh& m) {
  const auto [left, right] = std::ranges::minmax(m.points, {}, &mesh::point::x);
  const auto [low, high] = std::ranges::minmax(m.points, {}, &mesh::point::y);
  constexpr int bits = 20;
  const double scale = ((1 << bits) - 1) / std::max({right.x - left.x, high.y - low.y, 1e-300});
  std::vector<std::uint64_t> distance;
  distance.reserve(m.triangles.size());
  for (const mesh::triangle& t : m.triangles) {
    double x = 0, y = 0;
    for (const int p : t)
      x += m.points[static_cast<std::size_t>(p)].x / 3, y += m.points[static_cast<std::size_t>(p)].y / 3;
    distance.push_back(hilbert_distance(static_cast<std::uint32_t>(std::max(0., (x - left.x) * scale)),
                                        static_cast<std::uint32_t>(std::max(0., (y - low.y) * scale)), bits));
  }
  std::vector<int> order = file_order(m);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto da = distance[static_cast<std::size_t>(a)], db = distance[static_cast<std::size_t>(b)];
    return da != db ? da < db : a < b;
  });
  return order;
}
