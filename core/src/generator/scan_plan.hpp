// How a generated kernel scans: its tiles, and how their sums reach the tiles after them.
#pragma once
#include <cstddef>
#include <string>

#include "generator/reduction_source.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// A block scans one tile: `kept` lines of `groups` x `lanes` x `items` values. In a run, neighboring lanes of a warp
// read neighboring values; then each lane gets `items` successive ones through shared memory. In columns there is one
// lane, and neighboring threads have neighboring lines.
//
// Where a line has several tiles, all of them run at once. A tile publishes its sum. Its line's sum before it is the
// sum of the tiles before it in its group of 32, of the groups before that in their group of 32, and of the line before
// those, which the last tile of 1024 publishes. A tile waits for earlier blocks only. Blocks start in the order of
// their numbers, and a sum and its flag are one access of 16 bytes, as CUB's scan relies on, too. All sums are added in
// an order that the plan alone determines, unlike those of decoupled look-back (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back").
struct scan_plan {
  static constexpr std::size_t group_tiles = 32;

  // Requires reduction_kind::scan.
  explicit scan_plan(const reduction_evaluation& r);
  // Bytes of a sum with flags: for each 8 bytes, a flag of as many.
  static constexpr std::size_t packet_bytes(scalar_type t) { return (size_of(t) + 7) / 8 * 16; }

  bool is_run = true;                                   // values of one line are neighbors in memory
  bool is_wide = false;                                 // indices need 64 bits
  unsigned kept = 1, groups = 1, lanes = 1, items = 1;  // powers of two
  std::size_t outputs = 1;                              // lines
  std::size_t reduced = 1;                              // values of each
  std::size_t tiles = 1;                                // of a line
  std::size_t scratch_bytes = 0, cleared_bytes = 0;

  std::size_t tile() const { return std::size_t{groups} * lanes * items; }
  std::size_t strips() const { return (outputs + kept - 1) / kept; }
  // Sums that are kept of a line: of tiles, of groups, and of all before each 1024 tiles.
  std::size_t sums() const;

  std::size_t launches() const { return 1; }
  std::size_t blocks(std::size_t) const { return strips() * tiles; }
  reduction_numbers numbers(std::size_t) const { return {outputs, reduced, tiles, 0, 0}; }
  // What the source depends on, besides the program.
  std::string shape() const;
};

// The kernel of the plan; depends on its shape() and append_reduction_shape() alone.
std::string scan_text(const reduction_evaluation& r, const scan_plan& p);

}  // namespace ferry::inline FERRY_ABI::detail::generator
