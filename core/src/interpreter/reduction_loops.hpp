// The loops that combine values of one block. They are compiled twice: for any processor, and for AVX2.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Memory of one or more accumulators, which hold combined values.
struct accumulators {
  std::byte* value;   // of the combined type; of moments the means
  std::byte* second;  // least, greatest: positions, int64, -1 without a value; moments: sums of squared distances
};

// Loops that a type lacks are null.
struct reduction_loops {
  // Empties accumulators.
  void (*clear)(const accumulators& to, std::size_t n);
  // Adds n values to one accumulator. The values have the positions `position`, `position + 1` and so on. had: number
  // of values in the accumulator; if it is 0, its contents are ignored.
  void (*fold)(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position, std::size_t had);
  // Replaces one accumulator by the sum of the products of n pairs of values, rounded as if they were stored first.
  // Null, except of sums of real numbers and integers.
  void (*fold_products)(const accumulators& to, const std::byte* x, const std::byte* y, std::size_t n);
  // Adds one value to each of n accumulators: value i has the position `position`.
  void (*fold_each)(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position, std::size_t had);
  // Joins accumulators pair by pair. had, more: numbers of values in each of `to` and `from`; if had is 0, the contents
  // of `to` are ignored.
  void (*join)(const accumulators& to, const accumulators& from, std::size_t n, std::size_t had, std::size_t more);
  // Combines each run of `length` values in an accumulator of its own.
  void (*fold_runs)(const accumulators& to, const std::byte* x, std::size_t runs, std::size_t length);
  // Combines each column of each group of rows x columns values in an accumulator of its own.
  void (*fold_groups)(const accumulators& to, const std::byte* x, std::size_t groups, std::size_t rows,
                      std::size_t columns);
  // Writes the results of n accumulators, in the result type of the output.
  void (*finish)(std::byte* to, const accumulators& from, std::size_t n, reduction_finish what, std::size_t count,
                 double freedom);
};

// The loops of scans. Running values have scan_carry_bytes bytes, whose meaning only the loops define.
struct scan_loops {
  // Sets n running values to the initial one; to no value if `initial` is null.
  void (*clear)(std::byte* carry, std::size_t n, const std::byte* initial);
  // to[i] = the running value after x[i], or before it if is_exclusive. One running value for all. `to` may be x.
  void (*along)(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive);
  // The same, with a running value for each element.
  void (*each)(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive);
};
inline constexpr std::size_t scan_carry_bytes = 32;  // of one running value

struct reduction_table {
  reduction_loops reduce[reduction_operations][scalar_types];
  scan_loops scan[reduction_operations][scalar_types];
};

const reduction_table& portable_reduction_loops();
// Returns the loops for AVX2. Null if this build has none, or the processor lacks AVX2.
const reduction_table* avx2_reduction_loops();

}  // namespace ferry::inline FERRY_ABI::detail
