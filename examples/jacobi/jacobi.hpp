// Jacobi's method for Laplace's equation on a rectangle that is periodic from top to bottom.
#pragma once
#include <cmath>
#include <numbers>

#include <ferry/multigpu.hpp>

namespace jacobi {

// The left and right columns are sin(2 pi y / (ny - 1)); all other cells are 0.
FERRY_FUNCTOR(first_guess, {
  FERRY_HOST_DEVICE void operator()(std::size_t y, std::size_t x, ferry::shard_span<float, 2> a) const {
    const bool at_side = x == 0 || x + 1 == a.extent(1);
    const double angle = 2 * std::numbers::pi * static_cast<double>(y) / static_cast<double>(a.extent(0) - 1);
    a(y, x) = at_side ? static_cast<float>(sin(angle)) : 0.0f;
  }
});

FERRY_FUNCTOR(formulas, {
  FERRY_HOST_DEVICE static float mean(float right, float left, float below, float above) {
    return 0.25f * (right + left + below + above);
  }
  FERRY_HOST_DEVICE static float square(float change) { return change * change; }
});

// Updates a cell, and returns the square of its change. The side columns are fixed.
FERRY_FUNCTOR_USING((formulas), relax, {
  FERRY_HOST_DEVICE double operator()(std::size_t y, std::size_t x, ferry::shard_span<const float, 2> a,
                                      ferry::shard_span<float, 2> next) const {
    const bool at_side = x == 0 || x + 1 == a.extent(1);
    const float v = at_side ? a(y, x) : formulas::mean(a(y, x + 1), a(y, x - 1), a(y + 1, x), a(y - 1, x));
    const float change = v - a(y, x);
    next(y, x) = v;
    return formulas::square(change);
  }
});

// The same by rows of four cells, each a 16-byte load whose registers also serve the rows above and below. Loads
// `ahead` rows at once. The width must be a multiple of four.
FERRY_FUNCTOR_USING((formulas), relax_rows, {
  static constexpr std::size_t ahead = 4;
  struct alignas(16) quad {
    float a, b, c, d;
  };

  FERRY_HOST_DEVICE double operator()(ferry::tile t, ferry::shard_span<const float, 2> a,
                                      ferry::shard_span<float, 2> next) const {
    const lanes at{t.column == 0, t.column + 4 == a.extent(1), a.stride(0), next.stride(0)};
    const float* from = &a(t.row, t.column);
    float* to = &next(t.row, t.column);
    quad above = quad_at(from - at.pitch), here = quad_at(from);
    float sum = 0;
    std::size_t done = 0;
    for (; done + ahead <= t.rows; done += ahead) sum += some_rows<ahead>(at, from, to, above, here);
    for (; done < t.rows; ++done) sum += some_rows<1>(at, from, to, above, here);
    return sum;
  }

 private:
  struct lanes {
    bool is_first, is_last;
    std::ptrdiff_t pitch, to_pitch;
  };
  FERRY_HOST_DEVICE static quad& quad_at(float* p) { return *reinterpret_cast<quad*>(p); }
  FERRY_HOST_DEVICE static const quad& quad_at(const float* p) { return *reinterpret_cast<const quad*>(p); }

  template <std::size_t Rows>
  FERRY_HOST_DEVICE static float some_rows(const lanes& at, const float*& from, float*& to, quad& above, quad& here) {
    quad below[Rows];
    float left[Rows], right[Rows];
    for (std::size_t i = 0; i < Rows; ++i, from += at.pitch) {
      below[i] = quad_at(from + at.pitch);
      left[i] = at.is_first ? 0 : from[-1];
      right[i] = at.is_last ? 0 : from[4];
    }
    float sum = 0;
    for (std::size_t i = 0; i < Rows; ++i, to += at.to_pitch) {
      quad v{formulas::mean(here.b, left[i], below[i].a, above.a), formulas::mean(here.c, here.a, below[i].b, above.b),
             formulas::mean(here.d, here.b, below[i].c, above.c),
             formulas::mean(right[i], here.c, below[i].d, above.d)};
      if (at.is_first) v.a = here.a;
      if (at.is_last) v.d = here.d;
      sum += formulas::square(v.a - here.a) + formulas::square(v.b - here.b) + formulas::square(v.c - here.c) +
             formulas::square(v.d - here.d);
      quad_at(to) = v;
      above = here;
      here = below[i];
    }
    return sum;
  }
});

// One of a run's two fields on a team, periodic from top to bottom.
inline ferry::sharded_array<float, 2> make_field(const ferry::team& t, std::size_t ny, std::size_t nx) {
  return {t, {ny, nx}, {.axis = 0, .halo = 1, .periodic = true}};
}

// One step: computes `next` from `a`, whose halos must be valid, and makes the halos of `next` valid. Returns the
// square of the change's norm.
inline ferry::team_scalar<double> step(const ferry::sharded_array<float, 2>& a, ferry::sharded_array<float, 2>& next) {
  if (next.extent(1) % 4 != 0)
    return ferry::parallel_reduce(ferry::sweep(next), relax{}, ferry::plus{}, ferry::in(a), ferry::out(next));
  constexpr std::size_t rows = 8, columns = 4;  // of a tile: one thread's cells
  const ferry::shard_tiles tiles{ferry::owned(next), rows, columns};
  return ferry::parallel_reduce(ferry::sweep(tiles), relax_rows{}, ferry::plus{}, ferry::in(a), ferry::out(next));
}

}  // namespace jacobi
