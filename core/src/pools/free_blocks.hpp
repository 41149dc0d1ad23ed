// Free blocks by size: one list for each size class, and a bit set of non-empty classes. A class is 1/32 of a power of
// two wide.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds a lock. add() and remove() neither throw nor allocate, because the nodes link the
// blocks.
class free_blocks {
 public:
  void add(allocation& a) noexcept {
    const std::size_t c = class_of(a.bytes);
    a.previous = nullptr;
    a.next = heads_[c];
    if (a.next) a.next->previous = &a;
    heads_[c] = &a;
    filled_[c / 64] |= std::uint64_t{1} << (c % 64);
    a.is_free = true;
  }
  void remove(allocation& a) noexcept {
    if (a.next) a.next->previous = a.previous;
    if (a.previous) {
      a.previous->next = a.next;
    } else {
      const std::size_t c = class_of(a.bytes);
      heads_[c] = a.next;
      if (!a.next) filled_[c / 64] &= ~(std::uint64_t{1} << (c % 64));
    }
    a.next = a.previous = nullptr;
    a.is_free = false;
  }

  // Returns the smallest block of at least `bytes` bytes that `fits`, among the first few of its class. If work on `on`
  // would have to wait for that block, prefers one of the next few for which it need not. thorough: if none of the
  // first few fits, checks all blocks.
  template <class Fits>
  allocation* find(std::size_t bytes, const timeline* on, Fits fits, bool thorough) const {
    allocation* const best = smallest(bytes, fits, thorough);
    if (!best || best->history.is_ready_for(on)) return best;
    int looks = most_looks;
    for (std::size_t c = filled_from(class_of(bytes)); c < classes && looks > 0; c = filled_from(c + 1))
      for (allocation* a = heads_[c]; a && looks-- > 0; a = a->next)
        if (a->bytes >= bytes && fits(*a) && a->history.is_ready_for(on)) return a;
    return best;
  }
  // Calls f(block) for each block; f may remove that block.
  template <class F>
  void each(F f) const {
    for (allocation* a : heads_)
      while (a) {
        allocation* const next = a->next;
        f(*a);
        a = next;
      }
  }
  std::size_t largest() const {
    std::size_t most = 0;
    for (std::size_t w = filled_.size(); w-- > 0 && most == 0;)
      if (filled_[w])
        for (const allocation* a = heads_[w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(filled_[w]))]; a;
             a = a->next)
          most = std::max(most, a->bytes);
    return most;
  }

 private:
  static constexpr std::size_t step_bits = 5, steps = std::size_t{1} << step_bits, classes = (65 - step_bits) * steps;
  static constexpr int most_looks = 8;

  static std::size_t class_of(std::size_t bytes) {
    if (bytes < steps) return bytes;
    const auto shift = static_cast<std::size_t>(std::bit_width(bytes)) - 1 - step_bits;
    return (shift + 1) * steps + ((bytes >> shift) & (steps - 1));
  }
  // Returns the first non-empty class from c on, or `classes`.
  std::size_t filled_from(std::size_t c) const {
    if (c >= classes) return classes;
    std::uint64_t word = filled_[c / 64] & (~std::uint64_t{0} << (c % 64));
    for (std::size_t w = c / 64;;) {
      if (word) return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      if (++w == filled_.size()) return classes;
      word = filled_[w];
    }
  }
  template <class Fits>
  allocation* smallest(std::size_t bytes, Fits fits, bool thorough) const {
    allocation* best = nullptr;
    for (std::size_t c = filled_from(class_of(bytes)); c < classes && !best; c = filled_from(c + 1)) {
      int looks = most_looks;
      for (allocation* a = heads_[c]; a && (looks-- > 0 || (thorough && !best)); a = a->next) {
        if (a->bytes < bytes || (best && a->bytes >= best->bytes) || !fits(*a)) continue;
        if (a->bytes == bytes) return a;
        best = a;
      }
    }
    return best;
  }

  std::array<allocation*, classes> heads_{};
  std::array<std::uint64_t, (classes + 63) / 64> filled_{};
};

}  // namespace ferry::inline FERRY_ABI::detail
