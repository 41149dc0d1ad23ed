// Sizes of a caching pool's blocks and segments, by its kind and its options. Blocks of the kind binned have powers of
// two as sizes, are cut only before their first use, and are never merged.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>

#include "ferry/core/pool_options.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {

class block_rules {
 public:
  explicit block_rules(const pool_options& options);

  std::size_t granularity() const { return granularity_; }
  // True if free neighbours are merged.
  bool joins() const { return !binned_; }
  // Returns the size of the block for a request of `bytes` bytes. Throws out_of_memory above all address spaces.
  std::size_t rounded(std::size_t bytes) const {
    const std::size_t size = rounded_up(std::max<std::size_t>(bytes, 1), granularity_);
    return binned_ ? std::bit_ceil(size) : size;
  }
  // True if a free block of `block` bytes, at least `size`, may be used for a request of that size.
  bool fits(std::size_t block, bool was_used, std::size_t size) const {
    if (binned_ && was_used) return block == size;
    if (size > max_split_size_) return block - size <= large_segment_;
    return block <= max_split_size_;
  }
  // True if a block of `block` bytes may be cut.
  bool can_cut(std::size_t block, bool was_used) const { return block <= max_split_size_ && !(binned_ && was_used); }
  // True if blocks of this size share segments.
  bool shares_segments(std::size_t size) const { return size <= max_split_size_ / 2; }
  // Returns the size of a shared segment: at least 1/32 of the pool's reserved bytes. So many blocks share a segment,
  // and little is reserved beyond the need.
  std::size_t shared_segment(std::size_t size, std::size_t reserved) const;

 private:
  bool binned_;
  std::size_t granularity_, max_split_size_, small_segment_, large_segment_;
};

}  // namespace ferry::inline FERRY_ABI::detail
