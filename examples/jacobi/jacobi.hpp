// Jacobi's method for Laplace's equation on a rectangle that is periodic from top to bottom.
#pragma once
#include <cmath>
#include <numbers>

#include <ferry/multigpu.hpp>

namespace jacobi {

using read_field = ferry::shard_span<const float, 2>;
using write_field = ferry::shard_span<float, 2>;

// The left and right columns are sin(2 pi y / (ny - 1)), the rest begins as 0.
struct first_guess {
  FERRY_HOST_DEVICE void operator()(std::size_t y, std::size_t x, write_field a) const {
    const bool at_side = x == 0 || x + 1 == a.extent(1);
    const double angle = 2 * std::numbers::pi * static_cast<double>(y) / static_cast<double>(a.extent(0) - 1);
    a(y, x) = at_side ? static_cast<float>(sin(angle)) : 0.0f;
  }
};

FERRY_HOST_DEVICE inline float mean(float right, float left, float below, float above) {
  return 0.25f * (right + left + below + above);
}
FERRY_HOST_DEVICE inline float square(float change) { return change * change; }

// Cells of a tile one by one, and the sum of the squares of their changes. Side columns stay as they are.
FERRY_HOST_DEVICE inline float relax_cells(const ferry::tile& t, const read_field& a, const write_field& next) {
  float sum = 0;
  for (std::size_t y = t.row; y < t.row + t.rows; ++y)
    for (std::size_t x = t.column; x < t.column + t.columns; ++x) {
      const bool at_side = x == 0 || x + 1 == a.extent(1);
      const float v = at_side ? a(y, x) : mean(a(y, x + 1), a(y, x - 1), a(y + 1, x), a(y - 1, x));
      sum += square(v - a(y, x));
      next(y, x) = v;
    }
  return sum;
}

// The same by rows of four cells: each is one load of 16 bytes, and serves the rows above and below it out of registers.
struct relax {
  static constexpr std::size_t rows = 4, columns = 4;
  struct alignas(16) quad {
    float a, b, c, d;
  };

  FERRY_HOST_DEVICE double operator()(ferry::tile t, read_field a, write_field next) const {
    const std::size_t width = a.extent(1);
    const bool is_inside = t.column > 0 && t.column + columns < width && width % columns == 0;
    if (is_inside && t.rows == rows) return whole_rows<rows>(t, a, next);
    if (is_inside && t.rows == 1) return whole_rows<1>(t, a, next);  // at the edges of shards
    return relax_cells(t, a, next);
  }

 private:
  FERRY_HOST_DEVICE static quad& quad_at(float* p) { return *reinterpret_cast<quad*>(p); }
  FERRY_HOST_DEVICE static const quad& quad_at(const float* p) { return *reinterpret_cast<const quad*>(p); }

  template <std::size_t Rows>
  FERRY_HOST_DEVICE static float whole_rows(const ferry::tile& t, const read_field& a, const write_field& next) {
    const float* from = &a(t.row, t.column);
    float* to = &next(t.row, t.column);
    const std::ptrdiff_t pitch = a.stride(0), to_pitch = next.stride(0);
    quad row[Rows + 2];
    float left[Rows], right[Rows];
    from -= pitch;
    for (std::size_t i = 0; i < Rows + 2; ++i, from += pitch) {
      row[i] = quad_at(from);
      if (i > 0 && i <= Rows) left[i - 1] = from[-1], right[i - 1] = from[4];
    }
    float sum = 0;
    for (std::size_t i = 0; i < Rows; ++i, to += to_pitch) {
      const quad &above = row[i], &here = row[i + 1], &below = row[i + 2];
      const quad v{mean(here.b, left[i], below.a, above.a), mean(here.c, here.a, below.b, above.b),
                   mean(here.d, here.b, below.c, above.c), mean(right[i], here.c, below.d, above.d)};
      sum += square(v.a - here.a) + square(v.b - here.b) + square(v.c - here.c) + square(v.d - here.d);
      quad_at(to) = v;
    }
    return sum;
  }
};

// Both fields of a run on a team: periodic from top to bottom.
inline ferry::sharded_array<float, 2> make_field(const ferry::team& t, std::size_t ny, std::size_t nx) {
  return {t, {ny, nx}, {.axis = 0, .halo = 1, .periodic = true}};
}

// One step: `next` from `a`, whose halos are valid, as those of `next` will be. The square of the norm of the change.
inline ferry::team_scalar<double> step(const ferry::sharded_array<float, 2>& a, ferry::sharded_array<float, 2>& next) {
  const ferry::shard_tiles tiles{ferry::owned(next), relax::rows, relax::columns};
  return ferry::parallel_reduce(ferry::sweep(tiles), relax{}, ferry::plus{}, ferry::in(a), ferry::out(next));
}

}  // namespace jacobi
