// How a generated kernel counts values: its blocks, and where they count.
#pragma once
#include <cstddef>
#include <string>

#include "generator/reduction_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The kernel runs twice: blocks add parts of the values to counters in the scratch memory, then the counters are
// converted to the results. Few bins are counted in shared memory first, of which each group of warps has a copy.
// Numbers are exact in any order. Weights are added in no fixed order.
struct count_plan {
  static constexpr unsigned chains = 8;           // values that a thread loads at once
  static constexpr std::size_t most_bins = 4096;  // in shared memory
  static constexpr std::size_t counter_bytes = 8;

  // Requires reduction_kind::count.
  explicit count_plan(const reduction_evaluation& r);

  bool is_wide = false;      // indices need 64 bits
  unsigned shared_bins = 0;  // a power of two, or 0: bins are counted in the scratch memory only
  unsigned copies = 1;       // of the bins in shared memory
  std::size_t reduced = 1;   // values
  std::size_t parts = 1, bins = 1;
  std::size_t scratch_bytes = 0, cleared_bytes = 0;

  std::size_t launches() const { return 2; }
  std::size_t blocks(std::size_t launch) const {
    return launch == 0 ? parts : (bins + reduction_threads - 1) / reduction_threads;
  }
  reduction_numbers numbers(std::size_t launch) const { return {1, reduced, parts, launch, bins}; }
  // What the source depends on, besides the program.
  std::string shape() const;
};

// The kernel of the plan; depends on its shape() and append_reduction_shape() alone.
std::string count_text(const reduction_evaluation& r, const count_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
