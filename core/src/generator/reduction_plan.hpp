// How the generated kernel of a reduction traverses memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// A cell is a result's value for one index of the kept axes. `threads_of_cell` threads of a block combine the values of
// a cell; where there are few cells, `parts` blocks combine a chunk each, and the last one joins them in order.
struct reduction_plan {
  static constexpr unsigned threads = 256;
  static constexpr std::size_t bytes_of_cell = 32;  // at most, of one result

  // Requires kind `reduce`.
  explicit reduction_plan(const reduction_evaluation& r);

  // Bytes that determine the source.
  std::string shape() const;
  std::size_t groups() const { return (cells + cells_of_block() - 1) / cells_of_block(); }
  std::size_t blocks() const { return groups() * parts; }
  unsigned cells_of_block() const { return threads / threads_of_cell; }
  // Scratch memory: counters of the groups, which are zero at the start, then the cells of all parts. 0 bytes for one
  // part.
  std::size_t counter_bytes() const { return parts == 1 ? 0 : (groups() * sizeof(std::uint32_t) + 255) / 256 * 256; }
  std::size_t scratch_bytes() const {
    return parts == 1 ? 0 : counter_bytes() + groups() * cells_of_block() * parts * bytes_of_cell * results;
  }

  std::size_t cells = 1, reduced = 1, results = 0;
  unsigned threads_of_cell = 1;
  std::size_t parts = 1, chunk = 1;  // values of a part
  bool is_wide = false;              // indices need 64 bits
  std::vector<std::uint8_t> kept_axes, reduced_axes;

 private:
  const reduction_evaluation& r_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
