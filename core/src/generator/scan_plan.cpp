#include "generator/scan_plan.hpp"

#include <algorithm>
#include <bit>

#include "generator/element_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t thread_bytes = 128;  // bytes of the values of a thread
constexpr unsigned warp = 32;

// Returns the least power of two that is at least n, but at most `most`.
unsigned power_for(std::size_t n, unsigned most) {
  return static_cast<unsigned>(std::bit_ceil(std::clamp<std::size_t>(n, 1, most)));
}
std::size_t parts_of(std::size_t n, std::size_t part) { return (n + part - 1) / part; }

}  // namespace

scan_plan::scan_plan(const reduction_evaluation& r) {
  for (std::size_t d = 0; d != r.input.rank; ++d) (r.is_reduced[d] ? reduced : outputs) *= r.input.extent[d];
  is_run = r.input.rank == 0 || r.is_reduced[0];
  is_wide = needs_wide_indices(r);
  std::size_t value_bytes = 1;
  for (const reduction_output& o : r.results) value_bytes = std::max(value_bytes, size_of(r.input.code[o.value].type));
  const auto most_items = static_cast<unsigned>(std::min<std::size_t>(32, thread_bytes / value_bytes));
  if (is_run) lanes = power_for(reduced, warp);
  items = power_for(parts_of(reduced, lanes), most_items);
  groups = power_for(parts_of(reduced, std::size_t{lanes} * items), reduction_threads / lanes);
  // In columns, the lines of a warp are neighbors, if there are enough lines.
  if (!is_run) groups = std::min(groups, reduction_threads / power_for(outputs, warp));
  kept = reduction_threads / (groups * lanes);
  tiles = parts_of(reduced, tile());
  if (tiles == 1) return;
  for (const reduction_output& o : r.results)
    scratch_bytes += outputs * sums() * packet_bytes(carried_as(o.what, r.input.code[o.value].type));
  cleared_bytes = scratch_bytes;
}

std::size_t scan_plan::sums() const {
  return tiles + parts_of(tiles, group_tiles) + parts_of(tiles, group_tiles * group_tiles) + 1;
}

std::string scan_plan::shape() const {
  return joined("scan ", kept, " ", groups, " ", lanes, " ", items, is_run ? " run" : "", is_wide ? " wide" : "",
                tiles == 1 ? "" : " cut");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
