// Unified memory that has had a preferred device, in steps of 2 MiB, the driver's granularity of policies. Freed memory
// is not removed: a later owner of the addresses then makes one unneeded move.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Not thread-safe: the caller holds a lock.
class placed_pages {
 public:
  static constexpr std::uintptr_t step = std::uintptr_t{2} << 20;

  void add(const void* p, std::size_t bytes) {
    if (bytes == 0) return;
    for (std::uintptr_t i = first(p); i <= last(p, bytes); ++i) steps_.insert(i);
  }
  // True if some of the bytes share a step with added bytes.
  bool meets(const void* p, std::size_t bytes) const {
    if (bytes == 0) return false;
    const auto found = steps_.lower_bound(first(p));
    return found != steps_.end() && *found <= last(p, bytes);
  }

 private:
  static std::uintptr_t first(const void* p) { return reinterpret_cast<std::uintptr_t>(p) / step; }
  static std::uintptr_t last(const void* p, std::size_t bytes) {
    return (reinterpret_cast<std::uintptr_t>(p) + bytes - 1) / step;
  }

  std::set<std::uintptr_t> steps_;  // step numbers
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
