#include "ferry/core/ghosts.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string side_text(const side& s) {
  return concat(s.end == side_end::low ? "side::low(" : "side::high(", s.axis, ")");
}

}  // namespace

std::string ghosts_text(const side& s, const array_look& array) {
  return "the ghost cells of " + array_text(array) + " at " + side_text(s);
}

std::vector<std::size_t> checked_ghost_widths(const ghost_widths& w, std::size_t rank, const array_look& array) {
  if (!w.one && w.widths.size() != rank)
    throw invalid_argument(concat("ghosts of ", array_text(array), ": ", w.widths.size(), " widths for ", rank,
                                  " axes: give one for each axis, or one number for all"));
  std::vector<std::size_t> all(rank);
  for (std::size_t d = 0; d != rank; ++d) {
    const std::ptrdiff_t width = w.widths[w.one ? 0 : d];
    if (width < 0)
      throw invalid_argument(
          concat("ghosts of ", array_text(array), ": the width ", width, " along axis ", d, " is negative"));
    all[d] = static_cast<std::size_t>(width);
  }
  return all;
}

std::vector<side> checked_sides(const side_list& sides, std::span<const std::size_t> widths, const array_look& array) {
  std::vector<side> all = sides.sides;
  for (std::size_t d = 0; sides.all && d != widths.size(); ++d)
    if (widths[d] > 0) all.push_back(side::low(d)), all.push_back(side::high(d));
  if (sides.all && all.empty())
    throw invalid_argument("ghosts of " + array_text(array) +
                           ": the width is 0 along all axes, so that there are none: " +
                           "give a width above 0, and a sharded array a halo, such as .halo = 1");
  for (const side& s : all) {
    if (s.axis < 0 || static_cast<std::size_t>(s.axis) >= widths.size())
      throw invalid_argument(concat(ghosts_text(s, array), ": there is no axis ", s.axis,
                                    ": axes are counted from 0 to ", widths.size() - 1));
    if (widths[static_cast<std::size_t>(s.axis)] == 0)
      throw invalid_argument(
          concat(ghosts_text(s, array), ": their width along axis ", s.axis,
                 " is 0: give a width for that axis, and a sharded array a halo along it, such as .halo = {1, 1}"));
  }
  std::sort(all.begin(), all.end(),
            [](const side& a, const side& b) { return a.axis != b.axis ? a.axis < b.axis : a.end < b.end; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void need_interior(std::span<const std::size_t> widths, std::span<const std::size_t> extents, const array_look& array) {
  for (std::size_t d = 0; d != widths.size(); ++d)
    if (widths[d] > 0 && (extents[d] == 0 || widths[d] > (extents[d] - 1) / 2))
      throw invalid_argument(concat("ghosts of ", array_text(array), ": axis ", d, " has ", extents[d], " cells, and ",
                                    widths[d],
                                    " ghost cells at each end leave none inside: make the array of n + 2 * width "
                                    "cells, or give a width for each axis, 0 for this one"));
}

}  // namespace ferry::inline FERRY_ABI::detail
