#include "ferry/multigpu/shard_layout.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/multigpu/shard_span.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

using axis_numbers = std::vector<std::size_t>;

// "1 cell", "3 cells".
std::string counted(std::size_t n, const char* what) { return concat(n, " ", what, n == 1 ? "" : "s"); }

std::string array_of_rank(std::size_t rank) { return concat("a sharded array of rank ", rank); }

// Returns the axes of distribution: in the order of the grid, ascending without one.
axis_numbers checked_axes(const shard_options& o, std::size_t rank) {
  if (o.axis.axes.empty())
    throw invalid_argument(array_of_rank(rank) + " is cut along no axis: name at least one, as in .axis = {0, 1}");
  axis_numbers axes;
  for (const std::ptrdiff_t axis : o.axis.axes) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank)
      throw invalid_argument(
          concat(array_of_rank(rank), " is to be cut along axis ", axis, ": axes are counted from 0"));
    if (std::find(axes.begin(), axes.end(), static_cast<std::size_t>(axis)) != axes.end())
      throw invalid_argument(
          concat(array_of_rank(rank), " is to be cut along axis ", axis, " twice: name each axis once"));
    axes.push_back(static_cast<std::size_t>(axis));
  }
  if (o.grid.members.empty()) std::sort(axes.begin(), axes.end());
  return axes;
}

std::vector<std::size_t> checked_halo(const shard_options& o, const axis_numbers& axes, std::size_t rank) {
  if (!o.halo.one && o.halo.widths.size() != rank)
    throw invalid_argument(array_of_rank(rank) + " cannot have " + counted(o.halo.widths.size(), "halo width") +
                           ": pass one number for each axis in .halo, or one without braces for the axes of " +
                           "distribution");
  std::vector<std::size_t> halo(rank, 0);
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_cut = std::find(axes.begin(), axes.end(), d) != axes.end();
    const std::ptrdiff_t w = !o.halo.one ? o.halo.widths[d] : is_cut ? o.halo.widths[0] : 0;
    if (w < 0)
      throw invalid_argument(concat(array_of_rank(rank), " cannot have a halo of width ", w, " along axis ", d,
                                    ": pass the number of cells in .halo, 0 for no halo"));
    halo[d] = static_cast<std::size_t>(w);
  }
  return halo;
}

std::vector<bool> checked_periods(const shard_options& o, std::size_t rank) {
  if (o.periodic.one) return std::vector<bool>(rank, o.periodic.axes[0]);
  if (o.periodic.axes.size() != rank)
    throw invalid_argument(array_of_rank(rank) + " cannot have " + counted(o.periodic.axes.size(), "value") +
                           " in .periodic: pass true or false for each axis, or one of them without braces for all " +
                           "axes");
  return o.periodic.axes;
}

// Throws invalid_argument if a halo is wider than the cells that it mirrors.
void check_halo_fits(std::size_t width, std::size_t cells, std::size_t axis, const std::string& what) {
  if (width > cells)
    throw invalid_argument(concat("a halo of width ", width, " along axis ", axis, " is wider than ", what,
                                  ", which has ", counted(cells, "cell"),
                                  " along it: use a narrower halo, fewer devices, another axis, or another .grid"));
}

// The grid with the fewest cells beside cuts. Of equal grids it takes the one with more members along earlier axes,
// where halos are contiguous. Halos and periods do not matter, so that arrays of one shape are cut in the same way.
class grid_choice {
 public:
  grid_choice(std::span<const std::size_t> shape, const axis_numbers& axes)
      : shape_(shape),
        axes_(axes),
        members_(axes.size(), 1) {}
  std::vector<std::size_t> of(std::size_t members) {
    choose(0, members);
    return best_;
  }

 private:
  // Divides the members over the axes from the k-th on.
  void choose(std::size_t k, std::size_t members) {
    if (k + 1 == axes_.size()) {
      members_[k] = members;
      if (const double now = cost(); best_.empty() || now < cost_) best_ = members_, cost_ = now;
      return;
    }
    for (std::size_t n = members; n > 0; --n) {
      if (members % n != 0) continue;
      members_[k] = n;
      choose(k + 1, members / n);
    }
  }
  // Returns the number of cells on one side of all cuts.
  double cost() const {
    double cells = 0;
    for (std::size_t k = 0; k != axes_.size(); ++k) {
      auto side = static_cast<double>(members_[k] - 1);
      for (std::size_t d = 0; d != shape_.size(); ++d)
        if (d != axes_[k]) side *= static_cast<double>(shape_[d]);
      cells += side;
    }
    return cells;
  }

  std::span<const std::size_t> shape_;
  const axis_numbers& axes_;
  std::vector<std::size_t> members_, best_;
  double cost_ = 0;
};

std::string product_of(const std::vector<std::ptrdiff_t>& grid) {
  std::string text;
  for (const std::ptrdiff_t n : grid) text += concat(text.empty() ? "" : " x ", n);
  return text;
}

// Returns the members along each axis of distribution.
std::vector<std::size_t> checked_members(const shard_options& o, const axis_numbers& axes, std::size_t team) {
  if (o.grid.members.size() != axes.size())
    throw invalid_argument(concat("a grid of ", product_of(o.grid.members),
                                  " members for a sharded array that is cut along ", axes.size(),
                                  axes.size() == 1 ? " axis" : " axes",
                                  ": give one number for each axis in .axis, as in .axis = {0, 1}, .grid = {2, 2}"));
  std::size_t all = 1;
  bool fits = true;
  for (const std::ptrdiff_t n : o.grid.members)
    fits = fits && n > 0 && !__builtin_mul_overflow(all, static_cast<std::size_t>(n), &all);
  if (!fits || all != team)
    throw invalid_argument(
        concat("a grid of ", product_of(o.grid.members), " members on a team of ", team,
               ": the product of the numbers must be the size of the team; leave .grid out to have one chosen"));
  return {o.grid.members.begin(), o.grid.members.end()};
}

void check_halos_fit(const checked_options& o, std::span<const std::size_t> shape) {
  const std::size_t rank = shape.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t axis = rank - 1 - d, members = o.grid.members[axis];
    if (!o.grid.is_cut(axis)) check_halo_fits(o.halo[d], shape[d], d, "the array");
    for (std::size_t at = 0; at < members; ++at)
      if (const std::size_t n = even_part(at, members, shape[d]).size(); n > 0)
        check_halo_fits(o.halo[d], n, d, concat("the shard of member ", at * o.grid.step[axis]));
  }
}

}  // namespace

checked_options check_options(const shard_options& o, std::span<const std::size_t> shape, std::size_t members) {
  const std::size_t rank = shape.size();
  const axis_numbers axes = checked_axes(o, rank);
  checked_options checked{{}, checked_halo(o, axes, rank), checked_periods(o, rank)};
  const std::vector<std::size_t> along =
      o.grid.members.empty() ? grid_choice(shape, axes).of(members) : checked_members(o, axes, members);
  for (std::size_t k = 0; k != axes.size(); ++k) checked.grid.members[rank - 1 - axes[k]] = along[k];
  checked.grid.number_members();
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) == shape.end()) check_halos_fit(checked, shape);
  return checked;
}

shard_options options_of(const member_grid& grid, std::size_t rank) {
  shard_options o;
  o.axis.axes.clear();
  for (std::size_t d = 0; d != rank; ++d) {
    if (!grid.is_cut(rank - 1 - d)) continue;
    o.axis.axes.push_back(static_cast<std::ptrdiff_t>(d));
    o.grid.members.push_back(static_cast<std::ptrdiff_t>(grid.members[rank - 1 - d]));
  }
  return o;
}

std::string text_of(const member_grid& grid, std::size_t rank) {
  const shard_options o = options_of(grid, rank);
  std::string text = o.axis.axes.size() == 1 ? "axis " : "axes ";
  for (std::size_t k = 0; k != o.axis.axes.size(); ++k)
    text += concat(k == 0 ? "" : k + 1 == o.axis.axes.size() ? " and " : ", ", o.axis.axes[k]);
  return text + " of a team of " + product_of(o.grid.members);
}

void check_ranges(std::span<const slice> ranges, std::size_t rank) {
  if (ranges.size() > rank)
    throw invalid_argument(concat(ranges.size(), " ranges of indices for a sharded array of rank ", rank,
                                  ": give at most one a dimension, {begin, end}"));
  for (std::size_t d = 0; d < ranges.size(); ++d)
    if (ranges[d].step != 1)
      throw invalid_argument(concat("a range of indices of a sharded array has step ", ranges[d].step, " in dimension ",
                                    d, ": ranges of sharded arrays have no steps"));
}

void throw_other_layout(const std::string& name, const std::string& has, const std::string& needed) {
  throw invalid_argument(
      quoted_name(name, "sharded array") + " has shape " + has + ", and the work is on shape " + needed +
      ": arrays that are used together must be cut the same way on the same team; use ferry::reshard");
}

void throw_no_components(const std::string& name, std::size_t dimension, std::size_t rank, const std::string& layout) {
  throw invalid_argument(concat("cells of ", quoted_name(name, "sharded array"), " with components in dimension ",
                                dimension, " of ", rank, ", cut along ", layout,
                                ": components are the first or the last dimension, which is not cut"));
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
  throw invalid_argument(concat(
      "index ", index, " in dimension ", dimension, " of ", name, " is outside the cells [", begin, ", ", end,
      ") that this call may touch: those of the loop's region, and around them the halo of arrays that are read"));
}

void stale_halo_failed(const char* array, int dimension, std::ptrdiff_t index) {
  const std::string name = array;
  throw invalid_argument(concat("index ", index, " in dimension ", dimension, " of ",
                                quoted_name(name, "sharded array"),
                                " is a halo cell that is out of date: the cells that it mirrors were written after the "
                                "last exchange, or there was none. Call exchange_halos(",
                                name.empty() ? "array" : name,
                                ") first, or write the array in a sweep. A bare array counts as written where the "
                                "functor's parameter is generic: pass in(array) if it is only read"));
}

}  // namespace ferry::inline FERRY_ABI::detail
