/// @file
/// The cells of a sharded array over which a loop runs: all that each member owns, its boundary, or its interior.
#pragma once
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "ferry/core/index_space.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// Which owned cells of a member a region has.
enum class shard_cells : std::uint8_t {
  owned,     ///< all
  boundary,  ///< cells that are in halos of others or see halo cells: within the halo width of an edge
  interior   ///< the others
};

namespace detail {

// One box, optionally without the cells [gap_begin, gap_end) along one axis. The two remaining slabs are processed by
// one kernel.
template <std::size_t Rank>
struct shard_part {
  box<Rank> bounding_box;
  std::size_t gap_axis = 0;
  std::ptrdiff_t gap_begin = 0, gap_end = 0;

  bool has_gap() const { return gap_end > gap_begin; }
  std::size_t slabs() const { return has_gap() ? 2 : 1; }
  box<Rank> slab(std::size_t i) const {
    if (!has_gap()) return bounding_box;
    return i == 0 ? bounding_box.with(gap_axis, bounding_box.begin[gap_axis], gap_begin)
                  : bounding_box.with(gap_axis, gap_end, bounding_box.end[gap_axis]);
  }
  std::string text() const { return has_gap() ? slab(0).text() + " and " + slab(1).text() : bounding_box.text(); }
};

template <std::size_t Rank>
struct shard_parts {
  std::array<shard_part<Rank>, Rank> part;
  std::size_t count = 0;
  void add(const shard_part<Rank>& p, const box<Rank>& within) {
    const box<Rank> low = p.slab(0) & within, high = p.has_gap() ? p.slab(1) & within : box<Rank>();
    if (low.empty() && high.empty()) return;
    if (low.empty() || high.empty()) {
      part[count++] = {low.empty() ? high : low, 0, 0, 0};
      return;
    }
    box<Rank> bounding_box = low;
    bounding_box.end = high.end;
    part[count++] = {bounding_box, p.gap_axis, low.end[p.gap_axis], high.begin[p.gap_axis]};
  }
  const shard_part<Rank>* begin() const { return part.data(); }
  const shard_part<Rank>* end() const { return part.data() + count; }
};

// Returns the distribution of the cells of an array of which dimension `components` counts their components.
template <std::size_t Rank>
std::shared_ptr<const shard_layout<Rank - 1>> layout_without(const shard_layout<Rank>& l, std::size_t components,
                                                             const std::string& name) {
  if ((components != 0 && components != Rank - 1) || l.is_cut(components))
    throw_no_components(name, components, Rank, text_of(l.grid(), Rank));
  extents<Rank - 1> e;
  member_grid grid = l.grid();
  if (components != 0) std::rotate(grid.members.begin(), grid.members.begin() + 1, grid.members.end());
  shard_options o = options_of(grid, Rank - 1);
  o.exchange = l.exchange();
  o.halo.one = o.periodic.one = false;
  o.halo.widths.clear(), o.periodic.axes.clear();
  for (std::size_t d = 0, k = 0; d != Rank; ++d) {
    if (d == components) continue;
    e[k++] = l.extents()[d];
    o.halo.widths.push_back(static_cast<std::ptrdiff_t>(l.halo(d))), o.periodic.axes.push_back(l.periodic(d));
  }
  return std::make_shared<const shard_layout<Rank - 1>>(l.team(), e, o);
}

}  // namespace detail

/// Cells of a sharded array, for loops. See owned(), boundary() and interior().
/// @tparam Rank number of dimensions
template <std::size_t Rank>
class shard_region {
 public:
  static constexpr std::size_t rank = Rank;
  /// Makes a region from a distribution.
  shard_region(std::shared_ptr<const shard_layout<Rank>> layout, shard_cells which)
      : layout_(std::move(layout)),
        which_(which),
        within_(layout_->whole()) {}

  /// Returns the distribution.
  const shard_layout<Rank>& layout() const {
    if (!layout_) detail::throw_moved_from("the region of a sharded array");
    return *layout_;
  }
  /// Returns the cells of this region whose indices lie in the ranges.
  /// @param ranges one range [begin, end) for each dimension, as in slice(); omitted dimensions are complete
  /// @return the region
  /// @throws invalid_argument for a range outside the array, one that ends before it begins, or one with a step
  shard_region within(std::initializer_list<slice> ranges) const {
    detail::check_ranges(std::span<const slice>(ranges.begin(), ranges.size()), Rank);
    shard_region r = *this;
    std::size_t d = 0;
    for (const slice& s : ranges) {
      const auto& e = layout().extents();
      if (!s.fits(e[d])) detail::throw_bad_slice(s, e[d], d, "a region of " + e.text() + " cells");
      r.within_ = r.within_ & layout_->whole().with(d, s.begin, s.end_in(e[d]));
      ++d;
    }
    return r;
  }
  /// @overload
  shard_region within(const slice& first_dimension) const {
    return within(std::initializer_list<slice>{first_dimension});
  }
  /// Returns a region of the same ranges with other owned cells.
  shard_region with(shard_cells which) const {
    shard_region r = *this;
    r.which_ = which;
    return r;
  }
  /// Returns which owned cells the region has.
  shard_cells which() const { return which_; }

  // Returns the parts for a member; each is one kernel.
  detail::shard_parts<Rank> parts(std::size_t member) const {
    detail::shard_parts<Rank> all;
    const box<Rank> own = layout().own(member), inside = layout().interior(member);
    if (own.empty()) return all;
    if (which_ == shard_cells::owned) all.add({own, 0, 0, 0}, within_);
    if (which_ == shard_cells::interior) all.add({inside, 0, 0, 0}, within_);
    if (which_ != shard_cells::boundary) return all;
    box<Rank> rest = own;                 // cells that earlier axes leave
    for (const bool cut : {true, false})  // axes of distribution first
      for (std::size_t d = 0; d != Rank && !rest.empty(); ++d) {
        if (layout().is_cut(d) != cut || layout().halo(d) == 0) continue;
        all.add({rest, d, inside.begin[d], inside.end[d]}, within_);
        rest = rest.with(d, inside.begin[d], inside.end[d]);
      }
    return all;
  }

 private:
  std::shared_ptr<const shard_layout<Rank>> layout_;
  shard_cells which_;
  box<Rank> within_;
};

/// A region cut into tiles of rows x columns. Tiles never cross the edge of a shard. The functor receives a ferry::tile
/// with indices of the whole array.
struct shard_tiles {
  shard_region<2> region;
  std::size_t rows = 1, columns = 1;
};

/// Returns the region of all cells of an array.
template <class T, std::size_t Rank, memory_kind Kind>
shard_region<Rank> owned(const sharded_array<T, Rank, Kind>& a) {
  (void)a.layout();
  return {a.shared_layout(), shard_cells::owned};
}
/// Returns the region of all cells of an array of which one dimension counts the components of a cell: a loop over it
/// has one index less than the array has dimensions.
/// @param a the array
/// @param components that dimension: the first or the last one, and not an axis of distribution
/// @throws invalid_argument for another dimension
template <class T, std::size_t Rank, memory_kind Kind>
shard_region<Rank - 1> cells(const sharded_array<T, Rank, Kind>& a, std::size_t components) {
  static_assert(Rank > 1, "cells(a, components): an array of one dimension has no components");
  return {detail::layout_without(a.layout(), components, a.name()), shard_cells::owned};
}
/// Returns the region of the cells that are in halos of other members or see halo cells.
template <class T, std::size_t Rank, memory_kind Kind>
shard_region<Rank> boundary(const sharded_array<T, Rank, Kind>& a) {
  return owned(a).with(shard_cells::boundary);
}
/// Returns the region of all cells outside the boundary.
template <class T, std::size_t Rank, memory_kind Kind>
shard_region<Rank> interior(const sharded_array<T, Rank, Kind>& a) {
  return owned(a).with(shard_cells::interior);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
