// How the cells of an array are dealt out to the members of a team, and which cells of others each member sees.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/multigpu/box.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry {

// One number: that many cells along the axis of distribution; a list: one number an axis.
struct halo_widths {
  std::vector<std::ptrdiff_t> widths;
  bool one = true;
  halo_widths(std::integral auto width) : widths{static_cast<std::ptrdiff_t>(width)} {}
  halo_widths(std::initializer_list<std::ptrdiff_t> each) : widths(each), one(false) {}
};
// One answer for all axes, or one an axis.
struct periodic_axes {
  std::vector<bool> axes;
  bool one = true;
  periodic_axes(bool all) : axes{all} {}
  periodic_axes(std::initializer_list<bool> each) : axes(each), one(false) {}
};

// How halos travel between devices: by stores of kernels into the neighbour's memory, where the devices are peers, or by
// copies. automatic: by what is faster, which the first exchange of halos of this shape on this team measures, unless
// FERRY_HALOS says it; stores on simulated devices, and where the first is inside a capture.
enum class halo_method : std::uint8_t { automatic, stores, copies };

struct shard_options {
  std::size_t axis = 0;            // along which the array is cut
  halo_widths halo = 0;            // cells of the neighbours that a shard sees on each side
  periodic_axes periodic = false;  // whether the first cell along an axis is the neighbour of the last one
  halo_method exchange = halo_method::automatic;
};

namespace detail {
// The options for an array of `rank` dimensions, one a dimension. Throws invalid_argument.
std::vector<std::size_t> checked_halo(const shard_options& o, std::size_t rank);
std::vector<bool> checked_periods(const shard_options& o, std::size_t rank);
// Throws invalid_argument when a halo is wider than what it mirrors.
void check_halo_fits(std::size_t width, std::size_t cells, std::size_t axis, const std::string& what);
// Ranges of indices, one a dimension: throws invalid_argument if there are too many, or one has a step.
void check_ranges(std::span<const slice> ranges, std::size_t rank);
[[noreturn]] void throw_other_layout(const std::string& name, const std::string& has, const std::string& needed);
}  // namespace detail

template <std::size_t Rank>
class shard_layout {
  static_assert(Rank > 0, "a scalar cannot be cut: use ferry::replicated_array, or ferry::scalar");

 public:
  // Throws invalid_argument for an axis that is not there, negative widths, and halos wider than a shard or, along other
  // axes, than the array.
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

  const ferry::team& team() const { return team_; }
  const ferry::extents<Rank>& extents() const { return extents_; }
  std::size_t axis() const { return axis_; }
  std::size_t halo(std::size_t d) const { return halo_[d]; }
  bool periodic(std::size_t d) const { return periodic_[d]; }
  halo_method exchange() const { return exchange_; }
  bool has_halo() const {
    return std::any_of(halo_.begin(), halo_.end(), [](std::size_t w) { return w > 0; });
  }

  box<Rank> whole() const {
    box<Rank> b;
    for (std::size_t d = 0; d != Rank; ++d) b.end[d] = static_cast<std::ptrdiff_t>(extents_[d]);
    return b;
  }
  // The cells that a member owns, and these with the halos around them (empty when it owns none).
  box<Rank> own(std::size_t member) const {
    const part p = team_.part_of(member, extents_[axis_]);
    return whole().with(axis_, static_cast<std::ptrdiff_t>(p.begin), static_cast<std::ptrdiff_t>(p.end));
  }
  box<Rank> local(std::size_t member) const {
    box<Rank> b = own(member);
    if (b.empty()) return b;
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] -= static_cast<std::ptrdiff_t>(halo_[d]), b.end[d] += static_cast<std::ptrdiff_t>(halo_[d]);
    return b;
  }
  // Cells of a shard that no exchange touches: farther from each side that has a halo than the halo is wide.
  box<Rank> interior(std::size_t member) const {
    box<Rank> b = own(member);
    for (std::size_t d = 0; d != Rank; ++d)
      b.begin[d] += static_cast<std::ptrdiff_t>(halo_[d]), b.end[d] -= static_cast<std::ptrdiff_t>(halo_[d]);
    return b;
  }

  // Whether each member owns the same cells; halos may differ.
  bool is_dealt_like(const shard_layout& o) const {
    return team_ == o.team_ && extents_ == o.extents_ && axis_ == o.axis_;
  }
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

}  // namespace ferry
