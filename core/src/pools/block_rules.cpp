#include "pools/block_rules.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Segments grow with the pool up to this size.
constexpr std::size_t most_shared_segment = std::size_t{256} << 20;

}  // namespace

block_rules::block_rules(const pool_options& options)
    : binned_(options.kind == pool_kind::binned),
      granularity_(options.granularity),
      max_split_size_(options.max_split_size),
      small_segment_(options.small_segment),
      large_segment_(options.large_segment) {}

std::size_t block_rules::shared_segment(std::size_t size, std::size_t reserved) const {
  const std::size_t least = size <= small_segment_ / 16 ? small_segment_ : large_segment_;
  return std::min(std::max(least, std::min(std::bit_floor(reserved / 32), most_shared_segment)), max_split_size_);
}

}  // namespace ferry::inline FERRY_ABI::detail
