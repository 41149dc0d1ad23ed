#include "pools/block_placement.hpp"

#include <algorithm>
#include <cstdint>

#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::optional<std::size_t> block_placement::staggered_gap(byte_range free, const allocation* before,
                                                          const allocation* after, std::size_t size) const {
  const auto is_large_block = [](const allocation* a) { return a && !a->is_free && a->bytes >= page; };
  const auto address = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool large = size >= page;
  const std::size_t at_begin = large || is_large_block(before) ? -address(free.begin) % page : 0,
                    at_end =
                        is_large_block(after) || (large && after && !after->is_free) ? address(free.end) % page : 0;
  if (free.size() < size || free.size() - size < at_begin + at_end) return {};
  const std::size_t rest = free.size() - size - at_begin - at_end;
  if (size < least_staggered) return at_begin;
  return at_begin + std::min(large ? place() : (place() - address(free.begin) - at_begin) % stagger_period, rest);
}

std::size_t block_placement::stride(std::size_t size) const {
  return is_large(size) ? rounded_up(size + stagger_period, page) : size;
}

}  // namespace ferry::inline FERRY_ABI::detail
