/// @file
/// Index spaces of parallel_for: 1 to 3 dimensions, or tiles of two.
#pragma once
#include <cstddef>

#include "ferry/core/detail/kernels/spaces.hpp"
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

// A space of more than three dimensions: calls with it do not compile.
struct space_beyond {};

inline space_1d space_of(const extents<1>& e) { return {e[0]}; }
inline space_2d space_of(const extents<2>& e) { return {e[1], e[0]}; }
inline space_3d space_of(const extents<3>& e) { return {e[2], e[1], e[0]}; }
template <std::size_t Rank>
requires(Rank > 3) space_beyond space_of(const extents<Rank>&) { return {}; }
template <std::integral Int>
space_1d space_of(Int n) {
  return space_of(extents<1>(n));
}
inline space_of_tiles space_of(const tiles& t) {
  if (t.rows == 0 || t.columns == 0)
    throw invalid_argument("a tile of " + std::to_string(t.rows) + " x " + std::to_string(t.columns) + " is empty");
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
  template <std::integral... Int>
  requires(std::is_same_v<Space, space_beyond> && sizeof...(Int) > 3) located_space(Int...) {}
};

template <class Space>
bool is_empty(const Space& s) {
  return s.x == 0 || s.y == 0 || s.z == 0;
}

}  // namespace detail

/// @}

}  // namespace ferry::inline FERRY_ABI
