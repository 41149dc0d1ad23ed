#include "generator/reduction_plan.hpp"

#include <algorithm>
#include <bit>

#include "generator/element_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t most_reduction_blocks =
    2048;  // with parts; does not depend on the device, so that results do not

}  // namespace

reduction_plan::reduction_plan(const reduction_evaluation& r) {
  for (std::size_t d = 0; d != r.input.rank; ++d) (r.is_reduced[d] ? reduced : outputs) *= r.input.extent[d];
  is_run = r.input.rank == 0 || r.is_reduced[0];
  if (is_run)
    along = reduced >= 2048 ? reduction_threads
                            : static_cast<unsigned>(std::bit_ceil(std::max<std::size_t>(1, reduced / 8)));
  else
    along = 8;
  kept = reduction_threads / along;
  const std::size_t most = (reduced + std::size_t{along} * chains * chain_length - 1) / (along * chains * chain_length);
  parts = std::clamp<std::size_t>(most_reduction_blocks / last_blocks(), 1, most);
  is_wide = needs_wide_indices(r);
  scratch_bytes = parts == 1 ? 0 : r.results.size() * outputs * parts * cell_bytes;
}

std::string reduction_plan::shape() const {
  return joined("reduction ", kept, is_run ? " run" : "", is_wide ? " wide" : "");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
