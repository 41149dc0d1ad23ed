/// @file
/// The distribution of an array's cells over the members of a team, and the halos of each member.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/multigpu/box.hpp"
#include "ferry/multigpu/team.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// Halo widths in cells. One number is the width along the axis of distribution; a list has one width for each axis.
struct halo_widths {
  std::vector<std::ptrdiff_t> widths;
  bool one = true;
  /// Sets the width along the axis of distribution.
  halo_widths(std::integral auto width) : widths{static_cast<std::ptrdiff_t>(width)} {}
  /// Sets the width along each axis.
  halo_widths(std::initializer_list<std::ptrdiff_t> each) : widths(each), one(false) {}
};
/// Whether axes are periodic: one value for all axes, or one for each.
struct periodic_axes {
  std::vector<bool> axes;
  bool one = true;
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
  std::size_t axis = 0;            ///< axis of distribution
  halo_widths halo = 0;            ///< cells of the neighbours that a shard has on each side
  periodic_axes periodic = false;  ///< true: the first cell along an axis is the neighbour of the last one
  halo_method exchange = halo_method::automatic;
};

namespace detail {
// Returns the options for an array of `rank` dimensions, one value for each dimension. Throws invalid_argument.
std::vector<std::size_t> checked_halo(const shard_options& o, std::size_t rank);
std::vector<bool> checked_periods(const shard_options& o, std::size_t rank);
// Throws invalid_argument if a halo is wider than the cells that it mirrors.
void check_halo_fits(std::size_t width, std::size_t cells, std::size_t axis, const std::string& what);
// Checks ranges of indices, one for each dimension. Throws invalid_argument for too many ranges or a range with a step.
void check_ranges(std::span<const slice> ranges, std::size_t rank);
[[noreturn]] void throw_other_layout(const std::string& name, const std::string& has, const std::string& needed);
[[noreturn]] void throw_no_components(const std::string& name, std::size_t dimension, std::size_t rank,
                                      std::size_t axis);
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
  /// @param o axis, halos, and periodic axes
  /// @throws invalid_argument for an axis that does not exist, negative widths, or halos wider than a shard or, along
  ///   other axes, than the array
  shard_layout(ferry::team t, const ferry::extents<Rank>& e, const shard_options& o)
      : team_(std::move(t)),
        extents_(e),
        axis_(o.axis),
        exchange_(o.exchange) {
    const auto halo = detail::checked_halo(o, Rank);
    const auto periods = detail::checked_periods(o, Rank);
    for (std::size_t d = 0; d != Rank; ++d) halo_[d] = halo[d], periodic_[d] = periods[d];
    for (std::size_t d = 0; d != Rank; ++d)
      if (d != axis_ && e.count() > 0) detail::check_halo_fits(halo_[d], e[d], d, "the array");
    for (std::size_t m = 0; m < team_.size() && e.count() > 0; ++m)
      if (const std::size_t n = team_.part_of(m, e[axis_]).size(); n > 0)
        detail::check_halo_fits(halo_[axis_], n, axis_, "the shard of member " + std::to_string(m));
  }

  /// Returns the team.
  const ferry::team& team() const { return team_; }
  /// Returns the shape of the whole array.
  const ferry::extents<Rank>& extents() const { return extents_; }
  /// Returns the axis of distribution.
  std::size_t axis() const { return axis_; }
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
  /// Returns the cells that a member owns.
  box<Rank> own(std::size_t member) const {
    const part p = team_.part_of(member, extents_[axis_]);
    return whole().with(axis_, static_cast<std::ptrdiff_t>(p.begin), static_cast<std::ptrdiff_t>(p.end));
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
    return team_ == o.team_ && extents_ == o.extents_ && axis_ == o.axis_;
  }
  /// Returns shape, axis and size of the team as text.
  std::string text() const {
    return extents_.text() + " along axis " + std::to_string(axis_) + " of a team of " + std::to_string(team_.size());
  }

 private:
  ferry::team team_;
  ferry::extents<Rank> extents_;
  std::size_t axis_;
  std::array<std::size_t, Rank> halo_{};
  std::array<bool, Rank> periodic_{};
  halo_method exchange_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
