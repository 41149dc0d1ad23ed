#include "generator/reduction_plan.hpp"

#include <algorithm>
#include <bit>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/reduction_vectors.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// Returns the greatest number of blocks with parts. It does not depend on the device, so that results do not. 2112
// blocks are 16 for each of 132 multiprocessors; with 24, sums of 8-byte values were faster on an H200 (0.99 of CUB's
// instead of 0.96). Blocks that compute variances need more registers, and those of many columns read short rows: more
// and smaller blocks occupy the device evenly.
std::size_t most_blocks(const reduction_evaluation& r, bool is_run, std::size_t last_blocks) {
  if (!is_run) return last_blocks < 256 ? 2112 : 8192;
  const auto has = [&](auto... what) {
    return std::any_of(r.results.begin(), r.results.end(),
                       [&](const reduction_output& o) { return ((o.what == what) || ...); });
  };
  using enum reduction_operation;
  if (has(moments)) return 4096;
  return widest_operand(r) == 8 && !has(least, greatest) ? 3168 : 2112;
}
constexpr std::size_t reduction_vector_bytes = 16, reduction_loads_bytes = 64;

}  // namespace

reduction_plan::reduction_plan(const reduction_evaluation& r) {
  for (std::size_t d = 0; d != r.input.rank; ++d) (r.is_reduced[d] ? reduced : outputs) *= r.input.extent[d];
  is_run = r.input.rank == 0 || r.is_reduced[0];
  if (is_run) {
    const std::size_t size = widest_operand(r);
    lanes = static_cast<unsigned>(std::max<std::size_t>(1, reduction_vector_bytes / size));
    loads = static_cast<unsigned>(std::clamp<std::size_t>(reduction_loads_bytes / size, chains, 2 * chains));
    along = static_cast<unsigned>(std::bit_ceil(std::clamp<std::size_t>(reduced / loads, 1, reduction_threads)));
    are_vectors = can_load(r, lanes);
  } else {
    along = 8;
  }
  kept = reduction_threads / along;
  const std::size_t least = std::size_t{along} * loads * 2;
  parts =
      std::clamp<std::size_t>(most_blocks(r, is_run, last_blocks()) / last_blocks(), 1, (reduced + least - 1) / least);
  is_wide = needs_wide_indices(r);
  scratch_bytes = parts == 1 ? 0 : r.results.size() * outputs * parts * cell_bytes;
}

std::string reduction_plan::shape() const {
  return concat("reduction ", kept, " ", lanes, " ", loads, is_run ? " run" : "", are_vectors ? " vectors" : "",
                is_wide ? " wide" : "");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
