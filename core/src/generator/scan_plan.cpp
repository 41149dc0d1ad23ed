#include "generator/scan_plan.hpp"

#include <algorithm>
#include <bit>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/reduction_vectors.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t thread_bytes = 128;  // bytes of the values of a thread
constexpr std::size_t scan_vector_bytes = 16;
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
  // In columns, the lines of a warp are neighbors, if there are enough lines; those of two warps, if there are many.
  if (!is_run)
    groups = std::min(groups,
                      reduction_threads / (outputs < 2 * warp * least_chained ? power_for(outputs, warp) : 2 * warp));
  kept = reduction_threads / (groups * lanes);
  tiles = parts_of(reduced, tile());
  const auto axes =
      std::count(r.is_reduced.begin(), r.is_reduced.begin() + static_cast<std::ptrdiff_t>(r.input.rank), true);
  is_parked = r.results.size() == 1 && items > 1 && axes == 1;
  loads = is_parked ? std::min(items, std::max(1u, most_items / 2)) : items;
  if (is_parked && is_run) {
    const auto successive = static_cast<unsigned>(std::min<std::size_t>(loads, scan_vector_bytes / widest_operand(r)));
    if (can_load(r, successive)) vector = successive;
    stores_vectors = can_store(r, r.results[0].to, vector);
  }
  if (tiles == 1) return;
  is_chain = strips() >= least_chained;
  if (!is_chain) window = is_run ? reduction_threads : 64;
  for (const reduction_output& o : r.results)
    scratch_bytes += outputs * sums() * packet_bytes(carried_as(o.what, r.input.code[o.value].type));
  cleared_bytes = scratch_bytes;
}

std::size_t scan_plan::sums() const { return is_chain ? 1 : tiles + tiles / (window / spans) + 1; }

std::string scan_plan::shape() const {
  return concat("scan ", kept, " ", groups, " ", lanes, " ", items, is_run ? " run" : "", is_wide ? " wide" : "",
                is_parked ? " parked" : "",
                vector > 1 ? concat(" vectors ", vector, stores_vectors ? " stored" : "") : "",
                tiles == 1 ? ""
                : is_chain ? " chain"
                           : " window");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
