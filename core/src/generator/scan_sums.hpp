// Source of how the tiles of a line exchange their sums; see scan_plan.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "generator/scan_plan.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// For plans of several tiles. The text needs tile_cellK, the sum of a tile, and the indices of the tile and the thread.
class scan_sums_writer {
 public:
  scan_sums_writer(source_builder& s, const scan_plan& p) : s_(s), p_(p) {}

  // Appends an output. initial: the sum before the line.
  void add(std::string cell, std::string initial, std::size_t packet_bytes) {
    cells_.push_back({std::move(cell), std::move(initial), packet_bytes});
  }
  // Declares sums_cellK, the published sums of the line. In a chain, reads the one of the tile before.
  void write_begin();
  // Publishes the sum of the tile. Declares line_cellK, the sum of the line before the tile, and waits for it.
  void write_sum_before(std::size_t k);

 private:
  struct scanned_cell {
    std::string name, initial;
    std::size_t packet_bytes;
  };
  // Tiles of a span.
  unsigned span() const { return p_.window / scan_plan::spans; }
  // Threads of a line that read the sums of other tiles, and their groups.
  unsigned waiting() const { return p_.groups * p_.lanes < p_.window ? p_.groups * p_.lanes : p_.window; }
  unsigned waiting_groups() const { return waiting() / p_.lanes; }
  // Returns the condition that the sum of the line does not begin with `initial`, and the address of the sum that it
  // begins with.
  std::string is_continued() const;
  std::string early(const std::string& cell) const;
  // Reads the sum that the line begins with, without a wait.
  void write_early_read(const std::string& cell);
  // Declares windows_cellK: sums of the tiles of the window, one of each group that waits.
  void write_window(const scanned_cell& cell);
  void write_line(const std::string& cell);

  source_builder& s_;
  const scan_plan& p_;
  std::vector<scanned_cell> cells_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
