#include "generator/count_plan.hpp"

#include <algorithm>
#include <bit>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t most_counting_blocks = 1056, most_shared_counters = 2048;  // counters: of all copies of the bins

}  // namespace

count_plan::count_plan(const reduction_evaluation& r) : reduced(r.input.count()), bins(r.bins) {
  is_wide = needs_wide_indices(r);
  if (bins <= most_bins) {
    shared_bins = static_cast<unsigned>(std::bit_ceil(bins));
    copies =
        static_cast<unsigned>(std::clamp<std::size_t>(most_shared_counters / shared_bins, 1, reduction_threads / 32));
  }
  constexpr std::size_t at_once = std::size_t{reduction_threads} * chains;
  parts = std::clamp<std::size_t>((reduced + at_once - 1) / at_once, 1, most_counting_blocks);
  scratch_bytes = cleared_bytes = bins * counter_bytes;
}

std::string count_plan::shape() const { return concat("count ", shared_bins, " ", copies, is_wide ? " wide" : ""); }

}  // namespace ferry::inline FERRY_ABI::detail::generator
