// Arrays with components in loops over cells: one dimension more than the loop's region, as their first or their last.
#pragma once
#include <memory>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/shard_region.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Where the components of an array are: before the dimensions of the cells, or behind them. Arrays of the rank of the
// region have none.
template <std::size_t Rank, std::size_t RegionRank>
struct component_axis {
  static_assert(Rank == RegionRank || Rank == RegionRank + 1,
                "a sharded array in a loop has as many dimensions as the loop's region, or one more for components, as "
                "its first or its last dimension");
  std::size_t axis = 0;
  // The dimension of the array for dimension d of the region.
  std::size_t of_cells(std::size_t d) const { return Rank != RegionRank && d >= axis ? d + 1 : d; }
};

// Throws invalid_argument if members own other cells of the array than of the region.
template <std::size_t Rank, std::size_t RegionRank>
component_axis<Rank, RegionRank> components_of(const std::string& name, const shard_layout<Rank>& array,
                                               const shard_layout<RegionRank>& region) {
  component_axis<Rank, RegionRank> c;
  if constexpr (Rank != RegionRank) {
    if (!(array.grid() == region.grid())) c.axis = Rank - 1;  // grids are numbered from the last axis
    bool same = array.team() == region.team() && !array.is_cut(c.axis);
    for (std::size_t d = 0; d != RegionRank; ++d) {
      const std::size_t k = c.of_cells(d);
      same = same && array.extents()[k] == region.extents()[d] && array.is_cut(k) == region.is_cut(d) &&
             array.members_along(k) == region.members_along(d);
    }
    if (!same) throw_other_layout(name, array.text(), region.text());
  } else if (!array.is_dealt_like(region)) {
    throw_other_layout(name, array.text(), region.text());
  }
  return c;
}

// The cells of a part of the region in an array of these extents, with all components.
template <std::size_t Rank, std::size_t RegionRank>
shard_part<Rank> with_components(const component_axis<Rank, RegionRank>& c, const extents<Rank>& e,
                                 const shard_part<RegionRank>& p) {
  if constexpr (Rank == RegionRank) {
    return p;
  } else {
    shard_part<Rank> q{{}, c.of_cells(p.gap_axis), p.gap_begin, p.gap_end};
    q.bounding_box.end[c.axis] = static_cast<std::ptrdiff_t>(e[c.axis]);
    for (std::size_t d = 0; d != RegionRank; ++d) {
      q.bounding_box.begin[c.of_cells(d)] = p.bounding_box.begin[d];
      q.bounding_box.end[c.of_cells(d)] = p.bounding_box.end[d];
    }
    return q;
  }
}

// A region as one of an array with components.
template <std::size_t Rank, std::size_t RegionRank>
struct region_with_components {
  const shard_region<RegionRank>& cells;
  component_axis<Rank, RegionRank> components;
  extents<Rank> shape;
  const shard_layout<RegionRank>& layout() const { return cells.layout(); }
  shard_parts<Rank> parts(std::size_t member) const {
    shard_parts<Rank> all;
    for (const auto& p : cells.parts(member)) all.part[all.count++] = with_components(components, shape, p);
    return all;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
