// Cache of recently freed blocks for some of the threads, by exact size.
#pragma once
#include <array>
#include <mutex>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/spin.hpp"
#include "pools/pool_counts.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Each thread uses one of a pool's shards, so contention is rare. Blocks in a shard are neither in use nor free: their
// neighbours are not merged with them. They retain their access histories.
class alignas(128) pool_shard {
 public:
  // Returns a block of exactly `bytes` bytes for which work on `on` need not wait, among the last few freed, or null.
  // Sets `others` if there are only blocks for which it would wait.
  allocation* take(std::size_t bytes, const timeline* on, bool& others) noexcept {
    std::lock_guard lock(lock_);
    bin& b = bin_of(bytes);
    if (b.bytes != bytes) return nullptr;
    int looks = 4;
    for (allocation** at = &b.first; *at && looks-- > 0; at = &(*at)->next)
      if ((*at)->history.is_ready_for(on)) return &leave(b, *at);
    others = b.first != nullptr;
    return nullptr;
  }
  // Returns any block of exactly `bytes` bytes, or null.
  allocation* take_any(std::size_t bytes) noexcept {
    std::lock_guard lock(lock_);
    bin& b = bin_of(bytes);
    return b.bytes == bytes && b.first ? &leave(b, b.first) : nullptr;
  }
  // Adds a freed block. Returns the blocks that it has no room for, linked by `next`.
  allocation* put(allocation& a) noexcept {
    std::lock_guard lock(lock_);
    counts_.freed(a.bytes);
    bin& b = bin_of(a.bytes);
    allocation* out = nullptr;
    if (b.bytes != a.bytes) {
      out = b.first;
      if (!is_large(b.bytes)) held_ -= b.bytes * b.count;
      b = {a.bytes, nullptr, 0};
    } else if (b.count == (is_large(a.bytes) ? most_large : most_small)) {
      a.next = nullptr;
      return &a;
    }
    if (!is_large(a.bytes) && held_ > most_held) {
      a.next = out;
      return &a;
    }
    a.next = b.first;
    b.first = &a;
    ++b.count;
    if (!is_large(a.bytes)) held_ += a.bytes;
    return out;
  }
  // Removes all blocks and returns them, linked by `next`.
  allocation* drain() noexcept {
    std::lock_guard lock(lock_);
    allocation* all = nullptr;
    for (bin& b : bins_)
      while (allocation* a = b.first) {
        b.first = a->next;
        a->next = all;
        all = a;
        --b.count;
      }
    held_ = 0;
    return all;
  }
  pool_counts counts() const noexcept {
    std::lock_guard lock(lock_);
    return counts_;
  }

 private:
  struct bin {
    std::size_t bytes = 0;
    allocation* first = nullptr;
    std::uint32_t count = 0;
  };
  static constexpr std::size_t small_bins = 32, large_bins = 4;
  static constexpr std::uint32_t most_small = 16, most_large = 2;
  static constexpr std::size_t most_held = std::size_t{16} << 20;  // beyond it, small blocks go to the pool directly

  static bool is_large(std::size_t bytes) { return bytes > std::size_t{1} << 20; }
  bin& bin_of(std::size_t bytes) {
    const std::uint64_t h = std::uint64_t{bytes} * 0x9E3779B97F4A7C15u;  // Fibonacci hashing (Knuth, TAOCP 3, 6.4)
    return bins_[is_large(bytes) ? small_bins + (h >> 62) : h >> 59];
  }
  allocation& leave(bin& b, allocation*& at) noexcept {
    allocation& a = *at;
    at = a.next;
    --b.count;
    if (!is_large(a.bytes)) held_ -= a.bytes;
    counts_.allocated(a.bytes);
    return a;
  }
  mutable spin_lock lock_;
  std::size_t held_ = 0;  // bytes in small blocks
  pool_counts counts_;
  std::array<bin, small_bins + large_bins> bins_;
};

}  // namespace ferry::inline FERRY_ABI::detail
