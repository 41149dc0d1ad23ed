/// @file
/// The distribution of an array's cells over the members of a team, and the halos of each member.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/support/listed_integer.hpp"
#include "ferry/multigpu/box.hpp"
#include "ferry/multigpu/detail/teams/member_grid.hpp"
#include "ferry/multigpu/team.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// The axes along which an array is cut: one number, or a list such as {0, 1}, of any integer types.
struct cut_axes {
  std::vector<std::ptrdiff_t> axes;
  /// Sets one axis.
  cut_axes(std::integral auto axis) : axes{static_cast<std::ptrdiff_t>(axis)} {}
  /// Sets several axes.
  cut_axes(std::initializer_list<detail::listed_integer> each) : axes(each.begin(), each.end()) {}
  /// @overload
  template <std::integral Int>
  cut_axes(const std::vector<Int>& each) : axes(each.begin(), each.end()) {}
  /// Returns the first axis of the list.
  std::size_t first() const { return axes.empty() ? 0 : static_cast<std::size_t>(axes.front()); }
};
/// The number of members along each axis of distribution: a list such as {2, 2}, of any integer types.
struct grid_shape {
  std::vector<std::ptrdiff_t> members;
  /// No list: the grid is chosen.
  grid_shape() = default;
  /// Sets the number of members along each axis of distribution.
  grid_shape(std::initializer_list<detail::listed_integer> each) : members(each.begin(), each.end()) {}
  /// @overload
  template <std::integral Int>
  grid_shape(const std::vector<Int>& each) : members(each.begin(), each.end()) {}
};
/// Halo widths in cells, of any integer types. One number is the width along the axes of distribution; a list has one
/// width for each axis of the array.
struct halo_widths {
  std::vector<std::ptrdiff_t> widths;
  bool one = true;
  /// No halo.
  halo_widths() : widths{0} {}
  /// Sets the width along the axes of distribution.
  halo_widths(std::integral auto width) : widths{static_cast<std::ptrdiff_t>(width)} {}
  /// Sets the width along each axis.
  halo_widths(std::initializer_list<detail::listed_integer> each) : widths(each.begin(), each.end()), one(false) {}
};
/// Whether axes are periodic: one value for all axes, or one for each.
struct periodic_axes {
  std::vector<bool> axes;
  bool one = true;
  /// No axis is periodic.
  periodic_axes() : axes{false} {}
  /// Sets one value for all axes.
  periodic_axes(bool all) : axes{all} {}
  /// Sets one value for each axis.
  periodic_axes(std::initializer_list<bool> each) : axes(each), one(false) {}
};

/// How halos travel between devices.
/// - stores: kernels store into the memory of the neighbour, if the devices are peers.
/// - copies: by copies.
/// - automatic: the faster method. The first exchange of this shape on this team measures it, unless FERRY_HALOS sets
///   it. Stores on simulated devices, and if the first exchange is inside a capture.
enum class halo_method : std::uint8_t { automatic, stores, copies };

/// The distribution of a sharded array.
struct shard_options {
  cut_axes axis = 0;  ///< axis of distribution, or several in braces
  /// Number of members along each axis in `axis`, whose product is the size of the team. Empty: the grid with the
  /// fewest cells beside cuts, which depends only on the shape, the axes and the size of the team.
  grid_shape grid{};
  halo_widths halo = 0;            ///< cells of the neighbours that a shard has on each side
  periodic_axes periodic = false;  ///< true: the first cell along an axis is the neighbour of the last one
  halo_method exchange = halo_method::automatic;
};

namespace detail {
// The distribution that options describe, one value for each dimension. Dimensions of the grid are numbered from the
// last.
struct checked_options {
  member_grid grid;
  std::vector<std::size_t> halo;
  std::vector<bool> periods;
};
// Returns the distribution of an array of this shape over a team. Throws invalid_argument.
checked_options check_options(const shard_options& o, std::span<const std::size_t> shape, std::size_t members);
// Returns axes and grid of the options of an array that is cut so.
shard_options options_of(const member_grid& grid, std::size_t rank);
// Returns such as "axis 0 of a team of 4", "axes 0 and 1 of a team of 2 x 2".
std::string text_of(const member_grid& grid, std::size_t rank);
// Checks ranges of indices, one for each dimension. Throws invalid_argument for too many ranges or a range with a step.
void check_ranges(std::span<const slice> ranges, std::size_t rank);
[[noreturn]] void throw_other_layout(const std::string& name, const std::string& has, const std::string& needed);
[[noreturn]] void throw_no_components(const std::string& name, std::size_t dimension, std::size_t rank,
                                      const std::string& layout);
}  // namespace detail

/// The distribution of an array's cells over the members of a team.
/// @tparam Rank number of dimensions
template <std::size_t Rank>
class shard_layout {
  static_assert(Rank > 0, "a scalar cannot be cut: use ferry::replicated_array, or ferry::scalar");

 public:
  /// Makes a distribution.
  /// @param t the team
  /// @param e the shape of the array
  /// @param o axes, grid, halos, and periodic axes
  /// @throws invalid_argument for axes that do not exist or are named twice, a grid that does not fit axes and team,
  ///   negative widths, or halos wider than a shard or, along other axes, than the array
  shard_layout(ferry::team t, const ferry::extents<Rank>& e, const shard_options& o)
      : team_(std::move(t)),
        extents_(e),
        exchange_(o.exchange) {
    std::array<std::size_t, Rank> shape;
    for (std::size_t d = 0; d != Rank; ++d) shape[d] = e[d];
    const detail::checked_options checked = detail::check_options(o, shape, team_.size());
    grid_ = checked.grid;
    for (std::size_t d = 0; d != Rank; ++d) halo_[d] = checked.halo[d], periodic_[d] = checked.periods[d];
  }

  /// Returns the team.
  const ferry::team& team() const { return team_; }
  /// Returns the shape of the whole array.
  const ferry::extents<Rank>& extents() const { return extents_; }
  /// Returns the axis of distribution; the first one if there are several.
  std::size_t axis() const {
    std::size_t d = 0;
    while (!is_cut(d)) ++d;
    return d;
  }
  /// True if axis d is an axis of distribution.
  bool is_cut(std::size_t d) const { return grid_.is_cut(Rank - 1 - d); }
  /// Returns the number of members along axis d: 1 if the array is not cut along it.
  std::size_t members_along(std::size_t d) const { return std::max<std::size_t>(1, grid_.members[Rank - 1 - d]); }
  // Returns the members along each axis.
  const detail::member_grid& grid() const { return grid_; }
  /// Returns the halo width along axis d, in cells.
  std::size_t halo(std::size_t d) const { return halo_[d]; }
  /// True if axis d is periodic.
  bool periodic(std::size_t d) const { return periodic_[d]; }
  /// Returns how halos travel.
  halo_method exchange() const { return exchange_; }
  /// True if any halo is wider than 0.
  bool has_halo() const {
    return std::any_of(halo_.begin(), halo_.end(), [](std::size_t w) { return w > 0; });
  }

  /// Returns all cells of the array.
  box<Rank> whole() const {
    box<Rank> b;
    for (std::size_t d = 0; d != Rank; ++d) b.end[d] = static_cast<std::ptrdiff_t>(extents_[d]);
    return b;
  }
  /// Returns the cells that a member owns. Members are numbered in row-major order of their places in the grid.
  box<Rank> own(std::size_t member) const {
    box<Rank> b = whole();
    grid_.template for_each_cut<Rank>(member, [&](std::size_t axis, std::size_t at) {
      const std::size_t d = Rank - 1 - axis;
      const part p = detail::even_part(at, grid_.members[axis], extents_[d]);
      b.begin[d] = static_cast<std::ptrdiff_t>(p.begin), b.end[d] = static_cast<std::ptrdiff_t>(p.end);
    });
    return b;
  }
  /// Returns the member that owns a cell of the array.
  std::size_t member_of(const std::array<std::ptrdiff_t, Rank>& cell) const {
    std::size_t member = 0;
    for (std::size_t d = 0; d != Rank; ++d) {
      const std::size_t members = members_along(d);
      member = member * members + detail::even_part_with(static_cast<std::size_t>(cell[d]), members, extents_[d]);
    }
    return member;
  }
  // True if shards are consecutive in row-major order.
  bool is_in_order() const {
    for (std::size_t d = 1; d != Rank; ++d)
      if (members_along(d) > 1) return false;
    return true;
  }
  /// Returns the cells that a member owns and the halos around them; empty if it owns none.
  box<Rank> local(std::size_t member) const {
    box<Rank> b = own(member);
    if (b.empty()) return b;
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] -= static_cast<std::ptrdiff_t>(halo_[d]), b.end[d] += static_cast<std::ptrdiff_t>(halo_[d]);
    return b;
  }
  /// Returns the cells of a shard that no exchange reads or writes: farther from each side with a halo than the width
  /// of the halo.
  box<Rank> interior(std::size_t member) const {
    box<Rank> b = own(member);
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] += static_cast<std::ptrdiff_t>(halo_[d]), b.end[d] -= static_cast<std::ptrdiff_t>(halo_[d]);
    return b;
  }

  /// True if each member owns the same cells; halos may differ.
  bool is_dealt_like(const shard_layout& o) const {
    return team_ == o.team_ && extents_ == o.extents_ && grid_ == o.grid_;
  }
  /// Returns shape, axes and size of the team as text.
  std::string text() const { return extents_.text() + " along " + detail::text_of(grid_, Rank); }

 private:
  ferry::team team_;
  ferry::extents<Rank> extents_;
  detail::member_grid grid_;
  std::array<std::size_t, Rank> halo_{};
  std::array<bool, Rank> periodic_{};
  halo_method exchange_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
