// Costs of faults and of their alternatives, for the lost time in reports.
#pragma once
#include <cstddef>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Milliseconds for 256 MiB on an H200, from the table in docs/unified.md. A test compares both.
struct fault_figures {
  struct pair {
    double by_faults, instead;
    constexpr double per_byte() const { return (by_faults - instead) / (std::size_t{256} << 20); }
  };
  static constexpr pair to_devices{21.7, 5.8};        // kernel over pages of the CPU: by faults / after a prefetch
  static constexpr pair to_cpu{55.2, 52.6};           // CPU loop over pages of the GPU: by faults / after a prefetch
  static constexpr pair between_devices{19.8, 0.75};  // peer reads by faults / mapped
};

}  // namespace ferry::inline FERRY_ABI::detail
