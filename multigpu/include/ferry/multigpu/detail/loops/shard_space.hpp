// Index spaces of parts of shards, for kernels. They begin at any index, and may have a gap along one axis.
#pragma once
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/index_space.hpp"
#include "ferry/multigpu/detail/loops/part_spaces.hpp"
#include "ferry/multigpu/shard_region.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <std::size_t Rank>
stretch stretch_of(const shard_part<Rank>& p, std::size_t d) {
  stretch s{static_cast<std::size_t>(p.bounding_box.begin[d]), std::size_t(-1), 0};
  if (p.has_gap() && p.gap_axis == d) {
    s.before_jump = static_cast<std::size_t>(p.gap_begin - p.bounding_box.begin[d]);
    s.jump = static_cast<std::size_t>(p.gap_end - p.gap_begin);
  }
  return s;
}
template <std::size_t Rank>
std::size_t cells_along(const shard_part<Rank>& p, std::size_t d) {
  return p.bounding_box.length(d) -
         (p.has_gap() && p.gap_axis == d ? static_cast<std::size_t>(p.gap_end - p.gap_begin) : std::size_t{0});
}

inline tile_line tiles_along(const shard_part<2>& p, std::size_t d, std::size_t size) {
  const box<2> low = p.slab(0), high = p.slab(1);
  const bool two = p.has_gap() && p.gap_axis == d;
  return {size,
          static_cast<std::size_t>(low.begin[d]),
          low.length(d),
          ceil_div(low.length(d), size),
          static_cast<std::size_t>(high.begin[d]),
          two ? high.length(d) : 0};
}
inline part_space_1d space_of_part(const shard_region<1>&, const shard_part<1>& p) {
  return {cells_along(p, 0), stretch_of(p, 0)};
}
inline part_space_2d space_of_part(const shard_region<2>&, const shard_part<2>& p) {
  return {cells_along(p, 1), cells_along(p, 0), stretch_of(p, 1), stretch_of(p, 0)};
}
inline part_space_3d space_of_part(const shard_region<3>&, const shard_part<3>& p) {
  return {cells_along(p, 2), cells_along(p, 1), cells_along(p, 0),
          stretch_of(p, 2),  stretch_of(p, 1),  stretch_of(p, 0)};
}
inline part_space_of_tiles space_of_part(const shard_tiles& t, const shard_part<2>& p) {
  const tile_line x = tiles_along(p, 1, t.columns), y = tiles_along(p, 0, t.rows);
  return {x.count(), y.count(), x, y};
}

template <std::size_t Rank>
requires(Rank > 3) auto space_of_part(const shard_region<Rank>&, const shard_part<Rank>& p) {
  extents<Rank> cells;
  stretches<Rank> all;
  for (std::size_t d = 0; d != Rank; ++d) cells[d] = cells_along(p, d), all.along[d] = stretch_of(p, d);
  return outer_joined(cells, all);
}

template <std::size_t Rank>
const shard_region<Rank>& region_of(const shard_region<Rank>& r) {
  return r;
}
inline const shard_region<2>& region_of(const shard_tiles& t) {
  if (t.rows == 0 || t.columns == 0)
    throw invalid_argument(concat("a tile of ", t.rows, " x ", t.columns, " is empty"));
  return t.region;
}
template <std::size_t Rank>
shard_region<Rank> with_region(const shard_region<Rank>&, const shard_region<Rank>& r) {
  return r;
}
// The index space of one part.
template <class Region, std::size_t Rank>
auto part_of_region(const Region& s, const shard_region<Rank>& r) -> decltype(space_of_part(s, *r.parts(0).begin()));
template <class Space>
using part_space = decltype(part_of_region(std::declval<const Space&>(), region_of(std::declval<const Space&>())));

inline shard_tiles with_region(const shard_tiles& t, const shard_region<2>& r) { return {r, t.rows, t.columns}; }

template <class S>
concept shard_space = requires(const S& s) {
  detail::region_of(s);
};

}  // namespace ferry::inline FERRY_ABI::detail
