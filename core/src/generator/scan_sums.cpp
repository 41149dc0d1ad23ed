#include "generator/scan_sums.hpp"

#include <algorithm>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

std::string scan_sums_writer::is_continued() const {
  return p_.is_chain ? "tile > 0" : concat("span >= ", scan_plan::spans, "u");
}

std::string scan_sums_writer::early(const std::string& c) const {
  return p_.is_chain ? "sums_" + c : concat("sums_", c, " + (g.parts + span - ", scan_plan::spans, "u) * g.outputs");
}

void scan_sums_writer::write_begin() {
  s_.line("const bool is_owner = is_live && threadIdx.x < ", p_.kept, "u;");
  if (!p_.is_chain)
    s_.line("const index span = tile / ", span(), "u, first = span < ", scan_plan::spans - 1, "u ? 0 : (span - ",
            scan_plan::spans - 1, "u) * ", span(), "u;");
  const std::string sums = p_.is_chain ? "1" : concat("(g.parts + g.parts / ", span(), " + 1)");
  std::size_t offset = 0;
  for (const scanned_cell& cell : cells_) {
    const std::string& c = cell.name;
    s_.line("packet<", c, ">* const sums_", c, " = (packet<", c, ">*)(g.scratch + ", offset, " * g.outputs * ", sums,
            ") + output;");
    if (p_.is_chain) write_early_read(c);
    offset += cell.packet_bytes;
  }
}

void scan_sums_writer::write_early_read(const std::string& c) {
  s_.line("packet<", c, "> early_", c, ";");
  s_.line("if (is_owner && ", is_continued(), ") early_", c, ".read(", early(c), ");");
}

void scan_sums_writer::write_sum_before(std::size_t k) {
  const std::string& c = cells_[k].name;
  s_.line("alignas(16) __shared__ char line_of_", c, "[", p_.kept, " * sizeof(", c, ")];");
  s_.line(c, "* const lines_", c, " = (", c, "*)line_of_", c, ";");
  if (!p_.is_chain) {
    s_.line("if (is_owner) packet<", c, ">::publish(sums_", c, " + tile * g.outputs, tile_", c, ", 1);");
    write_early_read(c);
    write_window(cells_[k]);
  }
  s_.open("if (is_owner)");
  s_.line(c, " line = ", cells_[k].initial, ";");
  s_.line("if (", is_continued(), ") line = early_", c, ".wait(", early(c), ", ", p_.is_chain ? "tile" : "1", ");");
  s_.line("lines_", c, "[threadIdx.x] = line;");
  if (p_.is_chain) {
    s_.line("join_", c, "(line, tile_", c, ");");
    s_.line("packet<", c, ">::publish(sums_", c, ", line, (unsigned long long)tile + 1);");
  }
  s_.close();
  s_.line("__syncthreads();");
  s_.line(c, " line_", c, " = lines_", c, "[kept];");
  if (!p_.is_chain) write_line(c);
}

// Adds the sums of the window to those of the line before it.
void scan_sums_writer::write_line(const std::string& c) {
  s_.line("#pragma unroll 8");
  s_.line("for (unsigned q = 0; q < ", waiting_groups(), "; ++q) join_", c, "(line_", c, ", windows_", c, "[q * ",
          p_.kept, "u + kept]);");
  s_.open(concat("if (is_owner && tile % ", span(), "u == ", span() - 1, "u)"));
  s_.line(c, " line = line_", c, ";");
  s_.line("join_", c, "(line, tile_", c, ");");
  s_.line("packet<", c, ">::publish(sums_", c, " + (g.parts + span) * g.outputs, line, 1);");
  s_.close();
}

void scan_sums_writer::write_window(const scanned_cell& cell) {
  const std::string& c = cell.name;
  const unsigned each = p_.window / waiting(), at_once = std::min(each, cell.packet_bytes > 16 ? 2u : 4u);
  s_.line("alignas(16) __shared__ char window_of_", c, "[", waiting_groups() * p_.kept, " * sizeof(", c, ")];");
  s_.line(c, "* const windows_", c, " = (", c, "*)window_of_", c, ";");
  s_.open("");
  s_.line("const unsigned along = threadIdx.x / ", p_.kept, "u;");
  s_.line(c, " all = none_of_", c, "();");
  s_.line("#pragma unroll 1");
  s_.open(concat("for (unsigned from = 0; from < ", each, "; from += ", at_once, ")"));
  s_.line("packet<", c, "> some[", at_once, "];");
  for (const bool is_wait : {false, true}) {
    s_.line("#pragma unroll");
    s_.open(concat("for (unsigned u = 0; u < ", at_once, "; ++u)"));
    s_.line("const index other = first + (from + u) * ", waiting(), "u + along;");
    const std::string at = concat("sums_", c, " + other * g.outputs");
    s_.line("if (is_live && along < ", waiting(), "u && other < tile) ",
            is_wait ? concat("join_", c, "(all, some[u].wait(", at, ", 1));") : concat("some[u].read(", at, ");"));
    s_.close();
  }
  s_.close();
  if (p_.lanes > 1) {
    s_.line("#pragma unroll");
    s_.line("for (unsigned mask = ", p_.lanes / 2, "; mask > 0; mask /= 2) join_", c,
            "(all, of_lane_across(all, mask));");
  }
  s_.line("if (lane == 0 && group < ", waiting_groups(), "u) windows_", c, "[group * ", p_.kept, "u + kept] = all;");
  s_.close();
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
