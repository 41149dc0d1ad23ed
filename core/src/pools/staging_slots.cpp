#include "pools/staging_slots.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

staging_slots::~staging_slots() {
  for (const slab& s : slabs_) try {
      backend_.release(memory_kind::host, 0, s.begin, s.bytes);
    } catch (const error&) {  // a failed device: process exit frees its memory
    }
}

std::byte* staging_slots::take(std::size_t bytes) {
  std::vector<std::byte*>& pieces = free_[bytes];
  if (pieces.empty()) {
    const std::size_t count = std::max<std::size_t>(1, slab_bytes / bytes);
    slabs_.reserve(slabs_.size() + 1);
    pieces.reserve(pieces.capacity() + count);  // give_back() must not fail
    auto* const begin = static_cast<std::byte*>(backend_.allocate(memory_kind::host, 0, count * bytes));
    slabs_.push_back({begin, count * bytes});
    for (std::size_t i = 0; i != count; ++i) pieces.push_back(begin + i * bytes);
  }
  std::byte* const slot = pieces.back();
  pieces.pop_back();
  return slot;
}

void staging_slots::give_back(std::byte* slot, std::size_t bytes) noexcept { free_[bytes].push_back(slot); }

}  // namespace ferry::inline FERRY_ABI::detail
