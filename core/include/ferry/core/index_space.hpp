/// @file
/// Index spaces of parallel_for: 1 to 6 dimensions, or tiles of two.
#pragma once
#include <cstddef>

#include "ferry/core/detail/kernels/spaces.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/core/tile.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// A two-dimensional space divided into tiles of rows x columns. The functor is called as f(tile, arguments...). So a
/// stencil can hold neighbors in registers and use wide loads.
struct tiles {
  ferry::extents<2> space;
  std::size_t rows = 1, columns = 1;
};

namespace detail {

// A space of more than max_rank dimensions: calls with it do not compile.
struct space_beyond {};
inline space_beyond space_of(space_beyond s) { return s; }

// Throws invalid_argument if the number of indices does not fit 64 bits.
template <std::size_t Rank, class Along>
space_nd<Rank, Along> outer_joined(const extents<Rank>& e, const Along& along) {
  space_nd<Rank, Along> s{e[Rank - 1], e[Rank - 2], 1, {}, along};
  (void)e.count();
  for (std::size_t d = 0; d != Rank - 2; ++d) s.outer[d] = e[d], s.z *= e[d];
  return s;
}

inline space_1d space_of(const extents<1>& e) { return {e[0]}; }
inline space_2d space_of(const extents<2>& e) { return {e[1], e[0]}; }
inline space_3d space_of(const extents<3>& e) { return {e[2], e[1], e[0]}; }
template <std::size_t Rank>
requires(Rank > 3) space_nd<Rank> space_of(const extents<Rank>& e) { return outer_joined(e, from_zero()); }
// One of several extents in braces. Rank: their number, also above max_rank.
struct braced_extent {
  std::size_t value;
  template <std::integral Int>
  braced_extent(Int n) : value(extents<1>(n)[0]) {}
};
template <std::size_t Rank>
auto space_of(const braced_extent (&space)[Rank]) {
  if constexpr (Rank > max_rank) {
    return space_beyond();
  } else {
    extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = space[d].value;
    return space_of(e);
  }
}
template <std::integral Int>
space_1d space_of(Int n) {
  return space_of(extents<1>(n));
}
inline space_of_tiles space_of(const tiles& t) {
  if (t.rows == 0 || t.columns == 0)
    throw invalid_argument(concat("a tile of ", t.rows, " x ", t.columns, " is empty"));
  return {ceil_div(t.space[1], t.columns), ceil_div(t.space[0], t.rows), t.rows, t.columns, t.space[0], t.space[1]};
}

template <class S>
concept index_space = requires(const S& s) {
  detail::space_of(s);
};

// A space as programs write it (an integer, extents, tiles, extents in braces), with the source line of the call.
template <class Space>
struct located_space {
  Space space;
  source_line at;
  template <index_space S>
  requires(std::is_same_v<decltype(space_of(std::declval<const S&>())), Space>)
      located_space(const S& s, source_line line = source_line::here())
      : space(space_of(s)),
        at(line) {}
  template <std::integral I, std::integral J>
  requires(std::is_same_v<Space, space_2d>) located_space(I i, J j, source_line line = source_line::here())
      : space(space_of(extents<2>(i, j))),
        at(line) {}
  template <std::integral I, std::integral J, std::integral K>
  requires(std::is_same_v<Space, space_3d>) located_space(I i, J j, K k, source_line line = source_line::here())
      : space(space_of(extents<3>(i, j, k))),
        at(line) {}
  template <std::integral I, std::integral J, std::integral K, std::integral L>
  requires(std::is_same_v<Space, space_nd<4>>) located_space(I i, J j, K k, L l, source_line line = source_line::here())
      : space(space_of(extents<4>(i, j, k, l))),
        at(line) {}
  template <std::integral I, std::integral J, std::integral K, std::integral L, std::integral M>
  requires(std::is_same_v<Space, space_nd<5>>)
      located_space(I i, J j, K k, L l, M m, source_line line = source_line::here())
      : space(space_of(extents<5>(i, j, k, l, m))),
        at(line) {}
  template <std::integral I, std::integral J, std::integral K, std::integral L, std::integral M, std::integral N>
  requires(std::is_same_v<Space, space_nd<6>>)
      located_space(I i, J j, K k, L l, M m, N n, source_line line = source_line::here())
      : space(space_of(extents<6>(i, j, k, l, m, n))),
        at(line) {}
  template <std::integral... Int>
  requires(std::is_same_v<Space, space_beyond> && (sizeof...(Int) > max_rank)) located_space(Int...) {}
};

template <class Space>
bool is_empty(const Space& s) {
  return s.x == 0 || s.y == 0 || s.z == 0;
}

}  // namespace detail

/// @}

}  // namespace ferry::inline FERRY_ABI
