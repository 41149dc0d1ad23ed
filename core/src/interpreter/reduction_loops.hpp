// The loops that combine values of one block: compiled once for any processor, and once for AVX2.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Combined values, one or more: their memory, and what else belongs to them.
struct accumulators {
  std::byte* value;   // of the combined type; of moments the means
  std::byte* second;  // least, greatest: positions, int64, -1 without a value; moments: sums of squared distances
};

// Loops that a type lacks are null.
struct reduction_loops {
  // Sets accumulators to no value.
  void (*clear)(const accumulators& to, std::size_t n);
  // Adds n values to one accumulator, whose positions are `position` and the following. had: number of values before;
  // they are replaced if it is 0.
  void (*fold)(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position, std::size_t had);
  // Adds one value to each of n accumulators: value i has the position `position`.
  void (*fold_each)(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position, std::size_t had);
  // Joins accumulators with those of other values, pair by pair. had, more: numbers of values in each; the former
  // values are replaced if had is 0.
  void (*join)(const accumulators& to, const accumulators& from, std::size_t n, std::size_t had, std::size_t more);
  // Combines each run of `length` values, starting without a value.
  void (*fold_runs)(const accumulators& to, const std::byte* x, std::size_t runs, std::size_t length);
  // Combines each group of rows x columns values column by column, starting without a value.
  void (*fold_groups)(const accumulators& to, const std::byte* x, std::size_t groups, std::size_t rows,
                      std::size_t columns);
  // The results of n accumulators, of the output's result type.
  void (*finish)(std::byte* to, const accumulators& from, std::size_t n, reduction_finish what, std::size_t count,
                 double freedom);
};

// The running value of scans: two words of each element, meant for the loops only.
struct scan_loops {
  // Sets n running values to an initial one, or to none where that is null.
  void (*clear)(std::byte* carry, std::size_t n, const std::byte* initial);
  // to[i] = the running value after x[i], or before it; one running value. `to` may be x.
  void (*along)(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive);
  // The same with a running value for each element.
  void (*each)(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive);
};
inline constexpr std::size_t scan_carry_bytes = 32;  // of one running value

struct reduction_table {
  reduction_loops reduce[reduction_operations][scalar_types];
  scan_loops scan[reduction_operations][scalar_types];
};

const reduction_table& portable_reduction_loops();
// Null if this build has none, or the processor lacks AVX2.
const reduction_table* avx2_reduction_loops();

}  // namespace ferry::inline FERRY_ABI::detail
