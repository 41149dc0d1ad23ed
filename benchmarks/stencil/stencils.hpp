// Means of neighbors: of four, with one element or a tile of 4 x 4 elements per call, and of seven in space.
#pragma once
#include <ferry/core.hpp>

namespace benchmarks {

// Every element of v; edge elements are copied.
struct five_point {
  FERRY_HOST_DEVICE static float at(std::size_t i, std::size_t j, const ferry::mdspan<const float, 2>& u) {
    if (i == 0 || j == 0 || i + 1 == u.extent(0) || j + 1 == u.extent(1)) return u(i, j);
    return 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, ferry::mdspan<const float, 2> u,
                                    ferry::mdspan<float, 2> v) const {
    v(i, j) = at(i, j, u);
  }
};

// The mean of six neighbors and the element itself; elements at the surface are copied.
struct seven_point {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, ferry::mdspan<const float, 3> u,
                                    ferry::mdspan<float, 3> v) const {
    const bool inner = i > 0 && j > 0 && k > 0 && i + 1 < u.extent(0) && j + 1 < u.extent(1) && k + 1 < u.extent(2);
    v(i, j, k) = !inner ? u(i, j, k)
                        : (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) + u(i, j, k - 1) +
                           u(i, j, k + 1) + u(i, j, k)) /
                              7.f;
  }
};

// For contiguous rows. Each row of a tile is one 16-byte load, whose registers also serve the rows above and below.
struct five_point_tile {
  static constexpr std::size_t rows = 4, columns = 4;
  struct alignas(16) quad {
    float a, b, c, d;
  };
  FERRY_HOST_DEVICE static const quad& quad_at(const float* p) { return *reinterpret_cast<const quad*>(p); }

  FERRY_HOST_DEVICE void operator()(ferry::tile t, ferry::mdspan<const float, 2> u, ferry::mdspan<float, 2> v) const {
    const std::size_t width = u.extent(1);
    const bool whole = t.row > 0 && t.row + rows < u.extent(0) && t.column > 0 && t.column + columns < width;
    if (whole && width % 4 == 0)
      return inner(u.data() + t.row * width + t.column, v.data() + t.row * width + t.column, width);
    for (std::size_t i = t.row; i < t.row + t.rows; ++i)
      for (std::size_t j = t.column; j < t.column + t.columns; ++j) v(i, j) = five_point::at(i, j, u);
  }

 private:
  FERRY_HOST_DEVICE static void inner(const float* u, float* v, std::size_t width) {
    quad row[rows + 2];
    float left[rows], right[rows];
    for (std::size_t i = 0; i < rows + 2; ++i) row[i] = quad_at(u + i * width - width);
    for (std::size_t i = 0; i < rows; ++i) left[i] = u[i * width - 1], right[i] = u[i * width + 4];
    for (std::size_t i = 0; i < rows; ++i) {
      const quad &up = row[i], &here = row[i + 1], &down = row[i + 2];
      quad& to = *reinterpret_cast<quad*>(v + i * width);
      to = quad{0.25f * (up.a + down.a + left[i] + here.b), 0.25f * (up.b + down.b + here.a + here.c),
                0.25f * (up.c + down.c + here.b + here.d), 0.25f * (up.d + down.d + here.c + right[i])};
    }
  }
};

}  // namespace benchmarks
