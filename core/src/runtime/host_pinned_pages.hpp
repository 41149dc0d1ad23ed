// Unified memory of a machine on which a link between devices loses pages: it stays with the CPU (decision 30).
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry {

class runtime;

class host_pinned_pages {
 public:
  explicit host_pinned_pages(runtime& m) : runtime_(m) {}

  // For arrays that are about to be used on a stream: their pages go to the CPU, ordered on it as a write, and devices use them there
  // from then on. Each array once, and anew when a later borrow made it larger.
  // Waits for all work of the machine the first time: prefetches of before may be pending.
  void keep(timeline& on, std::span<const access> uses);

 private:
  struct kept {
    std::uint64_t generation = ~std::uint64_t{0};
    byte_range bytes;
  };
  void keep(timeline& on, allocation& a, byte_range bytes);
  runtime& runtime_;
  std::mutex mutex_;  // held until the pages were sent: who uses the array next comes behind that
  bool is_at_rest_ = false;
  std::unordered_map<const allocation*, kept> kept_;
};

}  // namespace ferry
