// Index spaces of parts of shards, as kernels use them. Compiled for devices as well: no host code.
#pragma once
#include <cstddef>

#include "ferry/core/detail/kernels/spaces.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Maps 0, 1, ... to first, first + 1, ..., with one jump.
struct stretch {
  std::size_t first, before_jump, jump;
  FERRY_HOST_DEVICE std::size_t operator()(std::size_t i) const { return first + i + (i >= before_jump ? jump : 0); }
  // The same map without a jump, for the indices that are on the same side of it as i.
  stretch straight(std::size_t i) const { return {(*this)(i)-i, std::size_t(-1), 0}; }
  std::size_t straight_end(std::size_t i) const { return i < before_jump ? before_jump : std::size_t(-1); }
};

struct part_space_1d {
  std::size_t x;
  using index_list = space_1d::index_list;
  stretch along_x;
  static constexpr std::size_t y = 1, z = 1, indices = 1;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t, std::size_t, const P&... p) const {
    return f(along_x(i), p...);
  }
  part_space_1d straight(std::size_t i, std::size_t, std::size_t) const { return {x, along_x.straight(i)}; }
  std::size_t straight_end(std::size_t i) const { return along_x.straight_end(i); }
};
struct part_space_2d {
  std::size_t x, y;
  using index_list = space_2d::index_list;
  stretch along_x, along_y;
  static constexpr std::size_t z = 1, indices = 2;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t, const P&... p) const {
    return f(along_y(j), along_x(i), p...);
  }
  part_space_2d straight(std::size_t i, std::size_t j, std::size_t) const {
    return {x, y, along_x.straight(i), along_y.straight(j)};
  }
  std::size_t straight_end(std::size_t i) const { return along_x.straight_end(i); }
};
struct part_space_3d {
  std::size_t x, y, z;
  using index_list = space_3d::index_list;
  stretch along_x, along_y, along_z;
  static constexpr std::size_t indices = 3;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t k, const P&... p) const {
    return f(along_z(k), along_y(j), along_x(i), p...);
  }
  part_space_3d straight(std::size_t i, std::size_t j, std::size_t k) const {
    return {x, y, z, along_x.straight(i), along_y.straight(j), along_z.straight(k)};
  }
  std::size_t straight_end(std::size_t i) const { return along_x.straight_end(i); }
};
// The map of space_nd for parts.
template <std::size_t Rank>
struct stretches {
  stretch along[Rank];  // slowest first
  FERRY_HOST_DEVICE std::size_t operator()(std::size_t d, std::size_t i) const { return along[d](i); }
};

// Tiles along one axis: those of the first slab, then those of the second slab.
struct tile_line {
  std::size_t size, first, cells, tiles;   // of a tile; then of the first slab
  std::size_t second_first, second_cells;  // of the second slab
  FERRY_HOST_DEVICE void at(std::size_t t, std::size_t& begin, std::size_t& length) const {
    const bool in_second = t >= tiles;
    const std::size_t done = (in_second ? t - tiles : t) * size, all = in_second ? second_cells : cells;
    begin = (in_second ? second_first : first) + done;
    length = at_most(size, all - done);
  }
  std::size_t count() const { return tiles + ceil_div(second_cells, size); }
};
struct part_space_of_tiles {
  std::size_t x, y;  // numbers of tiles
  using index_list = space_of_tiles::index_list;
  tile_line along_x, along_y;
  static constexpr std::size_t z = 1, indices = 1;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t, const P&... p) const {
    tile t;
    along_y.at(j, t.row, t.rows);
    along_x.at(i, t.column, t.columns);
    return f(t, p...);
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
