#include "ferry/multigpu/shard_ghosts.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

sides_of_shards checked_shard_sides(const side_list& sides, const std::optional<ghost_widths>& widths,
                                    std::span<const std::size_t> halo, std::span<const bool> is_periodic,
                                    const array_look& array) {
  const std::vector<std::size_t> given =
      widths ? checked_ghost_widths(*widths, halo.size(), array) : std::vector<std::size_t>(halo.begin(), halo.end());
  sides_of_shards all;
  all.are_all = sides.all;
  for (const side& s : checked_sides(sides, given, array)) {
    const auto d = static_cast<std::size_t>(s.axis);
    if (given[d] != halo[d])
      throw invalid_argument(concat(
          ghosts_text(s, array), ": the width ", given[d], " is not that of the halo along axis ", d, ", which is ",
          halo[d], ": leave it out, or make the array with such a halo, one for each axis as in .halo = {1, 1}"));
    if (!is_periodic[d])
      all.physical.push_back(s);
    else
      all.mirrored.push_back(s);
  }
  return all;
}

void refuse_mirrored_sides(const sides_of_shards& sides, const array_look& array) {
  if (sides.are_all || sides.mirrored.empty()) return;
  const side& s = sides.mirrored.front();
  throw invalid_argument(concat(ghosts_text(s, array), ": the array is periodic along axis ", s.axis,
                                ", so that cells beyond its ends are halos, which exchange_halos fills: name sides of "
                                "other axes, or make the array with .periodic = false for this axis"));
}

void throw_between_processes(const side& s, const array_look& array) {
  throw not_supported(concat("periodic{} at ", ghosts_text(s, array), ": the cells at the two ends of axis ", s.axis,
                             " are in different processes: make the array with .periodic = true for this axis; then "
                             "exchange_halos fills these cells"));
}

}  // namespace ferry::inline FERRY_ABI::detail
