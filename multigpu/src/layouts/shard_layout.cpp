#include "ferry/multigpu/shard_layout.hpp"

#include "ferry/core/error.hpp"
#include "ferry/multigpu/shard_span.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

void check_axis(const shard_options& o, std::size_t rank) {
  if (o.axis >= rank)
    throw invalid_argument("a sharded array of rank " + std::to_string(rank) + " is to be cut along axis " +
                           std::to_string(o.axis) + ": axes are counted from 0");
}

}  // namespace

std::vector<std::size_t> checked_halo(const shard_options& o, std::size_t rank) {
  check_axis(o, rank);
  if (!o.halo.one && o.halo.widths.size() != rank)
    throw invalid_argument("a sharded array of rank " + std::to_string(rank) + " is given " +
                           std::to_string(o.halo.widths.size()) + " halo widths: give one an axis, or one number for " +
                           "the axis of distribution");
  std::vector<std::size_t> halo(rank, 0);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::ptrdiff_t w = !o.halo.one ? o.halo.widths[d] : d == o.axis ? o.halo.widths[0] : 0;
    if (w < 0) throw invalid_argument("a halo of width " + std::to_string(w) + " along axis " + std::to_string(d));
    halo[d] = static_cast<std::size_t>(w);
  }
  return halo;
}

std::vector<bool> checked_periods(const shard_options& o, std::size_t rank) {
  if (o.periodic.one) return std::vector<bool>(rank, o.periodic.axes[0]);
  if (o.periodic.axes.size() != rank)
    throw invalid_argument("a sharded array of rank " + std::to_string(rank) + " is told for " +
                           std::to_string(o.periodic.axes.size()) +
                           " axes whether they are periodic: say it for each, " + "or once for all");
  return o.periodic.axes;
}

void check_halo_fits(std::size_t width, std::size_t cells, std::size_t axis, const std::string& what) {
  if (width > cells)
    throw invalid_argument("a halo of width " + std::to_string(width) + " along axis " + std::to_string(axis) +
                           " is wider than " + what + ", which has " + std::to_string(cells) +
                           " cells along it: use a narrower halo, fewer devices, or another axis");
}

void check_ranges(std::span<const slice> ranges, std::size_t rank) {
  if (ranges.size() > rank)
    throw invalid_argument(std::to_string(ranges.size()) + " ranges of indices for a sharded array of rank " +
                           std::to_string(rank) + ": give at most one a dimension, {begin, end}");
  for (std::size_t d = 0; d < ranges.size(); ++d)
    if (ranges[d].step != 1)
      throw invalid_argument("a range of indices of a sharded array has step " + std::to_string(ranges[d].step) +
                             " in dimension " + std::to_string(d) + ": ranges of sharded arrays have no steps");
}

void throw_other_layout(const std::string& name, const std::string& has, const std::string& needed) {
  throw invalid_argument(
      quoted_name(name, "sharded array") + " has shape " + has + ", and the work is on shape " + needed +
      ": arrays that are used together must be cut the same way on the same team; use ferry::reshard");
}

void throw_no_components(const std::string& name, std::size_t dimension, std::size_t rank, std::size_t axis) {
  throw invalid_argument("cells of " + quoted_name(name, "sharded array") + " with components in dimension " +
                         std::to_string(dimension) + " of " + std::to_string(rank) + ", cut along axis " +
                         std::to_string(axis) + ": components are the first or the last dimension, which is not cut");
}

void need_same_team(const team& a, const team& b) {
  if (!(a == b))
    throw invalid_argument(
        "sharded arrays of two different teams are used together: make both on one team (copies of a "
        "team name the same one), or use ferry::reshard");
}

void shard_index_failed(const char* array, int dimension, std::ptrdiff_t index, std::ptrdiff_t begin,
                        std::ptrdiff_t end) {
  const std::string name = quoted_name(array, "sharded array");
  throw invalid_argument("index " + std::to_string(index) + " in dimension " + std::to_string(dimension) + " of " +
                         name + " is outside the cells [" + std::to_string(begin) + ", " + std::to_string(end) +
                         ") that this call may touch: those of the loop's region, and around them the halo of arrays " +
                         "that are read");
}

void stale_halo_failed(const char* array, int dimension, std::ptrdiff_t index) {
  const std::string name = array;
  throw invalid_argument("index " + std::to_string(index) + " in dimension " + std::to_string(dimension) + " of " +
                         quoted_name(name, "sharded array") +
                         " is a halo cell that is out of date: the cells that it mirrors were written after the last " +
                         "exchange, or there was none. Call exchange_halos(" + (name.empty() ? "array" : name) +
                         ") first, or write the array in a sweep. A bare array counts as written where the functor's " +
                         "parameter is generic: pass in(array) if it is only read");
}

}  // namespace ferry::inline FERRY_ABI::detail
