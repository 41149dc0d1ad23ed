// Allocations of random sizes in random order, as in RMM's benchmark of that name. While there is room, 73 % of all
// operations allocate; the others free a random allocation. Sizes are uniform from 1 byte to a limit.
#pragma once
#include <cstddef>
#include <random>
#include <vector>

namespace benchmarks {

struct random_pattern {
  std::size_t operations = 100000;
  std::size_t largest = std::size_t{1} << 20;
  std::size_t most_held = std::size_t{87} << 30;  // bytes; above, operations only free

  // Calls allocate(bytes), which returns an object to hold, and free(held). Frees everything at the end.
  template <class Allocate, class Free>
  void run(Allocate allocate, Free free) const {
    using held_type = decltype(allocate(std::size_t{1}));
    struct held {
      held_type what;
      std::size_t bytes;
    };
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::size_t> size(1, largest);
    std::vector<held> all;
    std::size_t bytes = 0;
    const auto drop = [&](std::size_t i) {
      bytes -= all[i].bytes;
      free(all[i].what);
      std::swap(all[i], all.back());
      all.pop_back();
    };
    for (std::size_t i = 0; i < operations; ++i) {
      const std::size_t next = size(random);
      if (all.empty() || (random() % 100 < 73 && bytes + next <= most_held)) {
        all.push_back({allocate(next), next});
        bytes += next;
      } else {
        drop(random() % all.size());
      }
    }
    while (!all.empty()) drop(all.size() - 1);
  }
};

}  // namespace benchmarks
