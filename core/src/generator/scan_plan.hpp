// How a generated kernel scans: its tiles, and how their sums reach the tiles after them.
#pragma once
#include <cstddef>
#include <string>

#include "generator/reduction_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// A block scans one tile: `kept` lines of `groups` x `lanes` x `items` values. If the values of a line are neighbors in
// memory (a run), neighboring lanes of a warp read neighboring values. Then an exchange through shared memory gives
// each lane `items` successive values. In columns there is one lane, and neighboring threads have neighboring lines.
//
// If a line has several tiles, each one needs the sum of the line before it. It waits for earlier blocks only. This
// relies on two facts, as CUB's scan does: blocks start in the order of their numbers, and a sum and its flag are one
// access of 16 bytes. The plan alone determines the order of additions, unlike in decoupled look-back (Merrill and
// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back").
//
// With many lines, tiles of a line form a chain: each adds its sum to the one of the tile before it. Blocks of all
// other lines are between them: if these fill the device, that tile has ended before. A line has one published sum,
// whose flag is the number of tiles in it.
//
// With few lines, tiles of a line run concurrently. Each tile publishes its sum, and reads the sums of the tiles before
// it in a window. A window has 8 spans; the last tile of a span publishes the sum of the line so far. A tile begins
// with that sum of 8 spans before its own, which is published by then as a rule. So tiles wait for one exchange of
// sums.
struct scan_plan {
  static constexpr unsigned spans = 8;               // of a window
  static constexpr std::size_t least_chained = 128;  // strips for which tiles are chained

  // Requires the kind reduction_kind::scan.
  explicit scan_plan(const reduction_evaluation& r);
  // Returns the size of a published sum in bytes: each 8 bytes have a flag of 8 bytes.
  static constexpr std::size_t packet_bytes(scalar_type t) { return (size_of(t) + 7) / 8 * 16; }

  bool is_run = true;                                   // values of one line are neighbors in memory
  bool is_wide = false;                                 // indices need 64 bits
  unsigned kept = 1, groups = 1, lanes = 1, items = 1;  // powers of two
  unsigned loads = 1;                                   // values that a thread loads at once
  std::size_t outputs = 1;                              // lines
  std::size_t reduced = 1;                              // values of each
  std::size_t tiles = 1;                                // of a line
  bool is_parked = false;                               // values are held in shared memory
  unsigned vector = 1;                                  // successive values that one instruction loads
  bool stores_vectors = false;
  bool is_chain = false;
  unsigned window = 0;  // tiles
  std::size_t scratch_bytes = 0, cleared_bytes = 0;

  std::size_t tile() const { return std::size_t{groups} * lanes * items; }
  std::size_t strips() const { return (outputs + kept - 1) / kept; }
  // Returns the number of published sums of a line.
  std::size_t sums() const;

  std::size_t launches() const { return 1; }
  std::size_t blocks(std::size_t) const { return strips() * tiles; }
  value_positions positions() const { return {loads, lanes * vector, vector, vector > 1}; }
  reduction_numbers numbers(std::size_t) const { return {outputs, reduced, tiles, 0, 0}; }
  // Returns what the source depends on besides the program, as bytes.
  std::string shape() const;
};

// Returns the source of the kernel. It depends on the plan's shape() and append_reduction_shape() alone.
std::string scan_text(const reduction_evaluation& r, const scan_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
