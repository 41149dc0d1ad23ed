// Which unified memory was ever given a device to live on, in steps of 2 MiB, by which the driver keeps its policies. Memory
// that was freed since is not taken out: whoever gets the addresses is asked for one move too many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>

namespace ferry::cuda {

// The caller locks.
class placed_pages {
 public:
  static constexpr std::uintptr_t step = std::uintptr_t{2} << 20;

  void add(const void* p, std::size_t bytes) {
    if (bytes == 0) return;
    for (std::uintptr_t i = first(p); i <= last(p, bytes); ++i) steps_.insert(i);
  }
  // Whether some of the bytes share a step with what was added.
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

  std::set<std::uintptr_t> steps_;  // numbers
};

}  // namespace ferry::cuda
