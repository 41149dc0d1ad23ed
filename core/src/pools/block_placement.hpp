// Where a block begins within a free one: large blocks of unified memory share no page, and begin at staggered offsets.
#pragma once
#include <cstddef>
#include <optional>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds a lock.
class block_placement {
 public:
  // staggers: false places all blocks at the begin of free ones. So does a granularity that the offsets do not have.
  block_placement(bool staggers, std::size_t granularity) : staggers_(staggers && stagger % granularity == 0) {}

  // Returns the number of bytes that stay free before a block of `size` bytes within a free one. The gap places the
  // block at its stagger offset, and a large block shares no page. Empty if there is no room for that.
  std::optional<std::size_t> gap_before(byte_range free, const allocation* before, const allocation* after,
                                        std::size_t size) const {
    if (!staggers_) return 0;
    return staggered_gap(free, before, after, size);
  }
  // Called for each block placed: the next one gets another offset.
  void placed(std::size_t size) {
    if (staggers_ && size >= least_staggered) ++staggered_;
  }
  // Returns the bytes from one block to the next, for blocks of this size that fill a segment.
  std::size_t stride(std::size_t size) const;
  // Returns the gap before the next block of this size that has a segment of its own.
  std::size_t offset(std::size_t size) const { return is_large(size) ? place() : 0; }

 private:
  // Unified memory migrates by pages of 2 MiB. Blocks from this size on share no page with others, unless memory is
  // short.
  static constexpr std::size_t page = std::size_t{2} << 20;
  // For driver_quirks::aligned_arrays_delay_loads. A CPU delays a load behind an earlier store while the lowest 20 bits
  // of their physical addresses agree (S. Islam et al., "SPOILER: Speculative Load Hazards Boost Rowhammer and Cache
  // Attacks", USENIX Security 2019, section 3). Managed memory is physically contiguous within a page. So a stencil
  // from one array to another suffers from that if both begin at a page boundary. Measured on a Xeon: 5 times slower;
  // 256 bytes of difference were enough. So blocks of unified memory from 256 KiB on begin at 32 different offsets
  // within 16 KiB in turn.
  static constexpr std::size_t stagger = 1536, stagger_period = std::size_t{16} << 10;
  static constexpr std::size_t least_staggered = std::size_t{256} << 10;

  bool is_large(std::size_t size) const { return staggers_ && size >= page; }
  std::size_t place() const { return staggered_ * stagger % stagger_period; }
  std::optional<std::size_t> staggered_gap(byte_range free, const allocation* before, const allocation* after,
                                           std::size_t size) const;

  const bool staggers_;
  std::size_t staggered_ = 0;  // number of staggered blocks placed so far
};

}  // namespace ferry::inline FERRY_ABI::detail
