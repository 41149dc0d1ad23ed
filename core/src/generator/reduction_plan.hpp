// How a generated kernel reduces: its threads, the parts of each run, and what its source depends on.
#pragma once
#include <cstddef>
#include <string>

#include "generator/reduction_source.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// A block has `kept` x `along` threads: `along` threads share the values of one kept index. Neighboring threads read
// neighboring values. In a run, each reads `lanes` successive values, by one instruction if alignment allows that. If
// the values of a kept index are divided into several parts, the kernel runs twice: the second run combines the results
// of the parts. The order of all operations depends on the plan alone.
struct reduction_plan {
  static constexpr unsigned chains = 8;          // independent partial results of a thread
  static constexpr unsigned chain_length = 16;   // values of each that are combined one after the other
  static constexpr std::size_t cell_bytes = 32;  // of a result of a part, at most

  // Requires reduction_kind::reduce.
  explicit reduction_plan(const reduction_evaluation& r);

  unsigned kept = 1, along = reduction_threads;  // powers of two
  unsigned lanes = 1, loads = chains;            // values of a thread: successive ones, and those that it loads at once
  bool are_vectors = false;                      // one instruction loads successive ones
  bool is_run = true;                            // values of one kept index are neighbors in memory
  bool is_wide = false;                          // indices need 64 bits
  std::size_t outputs = 1;                       // kept indices
  std::size_t reduced = 1;                       // values of each
  std::size_t parts = 1;
  std::size_t scratch_bytes = 0, cleared_bytes = 0;
  std::size_t last_blocks() const { return (outputs + kept - 1) / kept; }

  std::size_t launches() const { return parts == 1 ? 1 : 2; }
  std::size_t blocks(std::size_t launch) const { return launch == 0 ? last_blocks() * parts : last_blocks(); }
  reduction_numbers numbers(std::size_t launch) const { return {outputs, reduced, parts, launch, 0}; }
  value_positions positions() const { return {loads, along * lanes, lanes, are_vectors}; }
  // Returns what the source depends on besides the program, as bytes.
  std::string shape() const;
};

// Returns the source of the kernel. It depends on the plan's shape() and append_reduction_shape() alone.
std::string reduction_text(const reduction_evaluation& r, const reduction_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
