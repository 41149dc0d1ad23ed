#include "ferry/multigpu/detail/shards/sharded_operand.hpp"

#include <cstdlib>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

shifted_operand::shifted_operand(std::shared_ptr<const sharded_operand> of, const axis_offsets& by, std::string text)
    : of_(std::move(of)),
      by_(by),
      text_(std::move(text)) {
  const shard_distribution d = of_->distribution();
  for (std::size_t k = d.extents.rank; k-- > 0;) {
    const auto width = static_cast<std::size_t>(std::abs(by_[k]));
    if (width <= d.halo[k]) continue;
    throw invalid_argument(concat(this->text(), " needs a halo of ", width, " cells along axis ",
                                  d.extents.rank - 1 - k, ", and ", of_->described(), " has one of ", d.halo[k],
                                  ": make the array with shard_options{.halo = ...} of that width"));
  }
}

program_operand shifted_operand::elements(const program_part& p) const {
  program_part there = p;
  for (std::size_t d = 0; d != p.shape.rank; ++d) there.first[d] += by_[d];
  return of_->cells(there);
}

}  // namespace ferry::inline FERRY_ABI::detail
