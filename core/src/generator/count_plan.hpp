// How a generated kernel counts the values of a histogram: its blocks, and the memory of its counters.
#pragma once
#include <cstddef>
#include <string>

#include "generator/reduction_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// The kernel runs twice. In the first run, each block counts a part of the values, and adds its counts to counters in
// the scratch memory. If there are few bins, it counts in shared memory, where each group of warps has a copy of the
// bins. The second run converts the counters to the results. Counts are exact. Weights are added in no fixed order.
struct count_plan {
  static constexpr unsigned chains = 8;           // values that a thread loads at once
  static constexpr std::size_t most_bins = 4096;  // in shared memory
  static constexpr std::size_t counter_bytes = 8;

  // Requires the kind reduction_kind::count.
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
  // Returns what the source depends on besides the program, as bytes.
  std::string shape() const;
};

// Returns the source of the kernel. It depends on the plan's shape() and append_reduction_shape() alone.
std::string count_text(const reduction_evaluation& r, const count_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
