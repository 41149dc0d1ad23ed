// Counters of blocks that a part of a pool handed out.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct pool_counts {  // since construction; counts of one part may wrap, their sums over all parts do not
  std::size_t bytes = 0, allocations = 0;
  std::uint64_t made = 0;
  void allocated(std::size_t n) { bytes += n, ++allocations, ++made; }
  void freed(std::size_t n) { bytes -= n, --allocations; }
  void operator+=(const pool_counts& o) { bytes += o.bytes, allocations += o.allocations, made += o.made; }
};

}  // namespace ferry::inline FERRY_ABI::detail
