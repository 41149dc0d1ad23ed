// Checks cells of shards while a simulated kernel runs: cells that it must not write, and cells that it must not read.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A box of cells in memory, with the index of its first cell in the whole array.
struct watched_cells {
  std::byte* data = nullptr;
  strided_shape shape{};
  std::array<std::ptrdiff_t, max_rank> stride_bytes{}, first{};
  bool stale = false;       // true: reads as NaN if the kernel works on copies; false: compared
  bool is_declared = true;  // false: not declared as read; compared only if the kernel works on copies
  std::string array{}, region{};
};

// Construct it before the body runs. check() throws invalid_argument if the body has written a watched cell.
class cell_watch {
 public:
  cell_watch(const std::vector<watched_cells>& cells, const relocation& move);
  void check();

 private:
  struct saved {
    const watched_cells* what;
    std::byte* at;
    std::vector<std::byte> before;
    bool poisoned;
  };
  std::vector<saved> saved_;
};

}  // namespace ferry::inline FERRY_ABI::detail
